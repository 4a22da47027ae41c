"""What one leg holds of a pooled connection, and the listings that the legs of one connection make on it.

An SDK keeps its per-tool checks once a connection, and each write clears and refills them. So whoever mounts
tools from a listing says so here, and the whole of what the legs mounted is written, each time.

Source: the seed mcp-connection-pool.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import anyio

from mcp_conformance_reference.errors import ClientError

if TYPE_CHECKING:
    from mcp_conformance_reference.pooled import PooledConnection

__all__ = ["Apply", "Lease", "LeaseReleased", "ListingRecords", "ListingUnusable", "ListingWriter", "Mounted"]

Apply = Callable[[list[Any]], None]
"""Writes the checks of a client anew: gets what is known of every tool that some leg mounted, in full."""

_log = logging.getLogger(__name__)


class LeaseReleased(ClientError):
    """The lease was given back, and what hung on it is of no use any more."""


class ListingUnusable(ClientError):
    """A listing brought tools that its `apply` cannot write; everything else was written.

    Attributes:
        tools: Their names, in the order of the listing.
    """

    def __init__(self, tools: Iterable[str], reason: Exception) -> None:
        self.tools = tuple(tools)
        super().__init__(
            f"{', '.join(map(repr, self.tools))}: cannot be written to the client's checks ({reason!r}); "
            "leave the tool out or check its answers by its own definition, the others are written"
        )


@dataclass(frozen=True)
class _Record:
    """What is known of one tool, and the version of the listing that said it."""

    version: int
    tool: Any


@dataclass(frozen=True)
class Mounted:
    """The names that one leg mounted, and the version of the listing that it mounted them from."""

    version: int
    names: frozenset[str]


class ListingRecords:
    """What the listings on one connection said, and which leg mounted what of it.

    A listing's version is its place in the order in which listings were opened on the connection. A name is
    told by the latest version that returned it, whichever answer arrives first.
    """

    def __init__(self) -> None:
        self._opened = 0
        self._records: dict[str, _Record] = {}
        self._mounted: dict[Lease, Mounted] = {}
        self._apply: Apply = lambda tools: None

    def open(self, lease: Lease) -> ListingWriter:
        """Give the next version to a listing that is about to be asked for."""
        self._opened += 1
        return ListingWriter(self, lease, self._opened)

    def write(
        self, lease: Lease, version: int, tools: Iterable[Any], apply: Apply, retained: Collection[str]
    ) -> None:
        """See `ListingWriter`."""
        named = {self.name_of(tool): tool for tool in tools}
        listed = {name: tool for name, tool in named.items() if name not in retained}
        before = self.record(version, listed)
        self.mount(lease, Mounted(version, frozenset(named)))
        self._apply = apply
        try:
            apply(self.current())
        except Exception as error:
            unusable = [name for name in before if not self.applies(named[name], apply)]
            for name in unusable:
                self.restore(name, before[name])
            apply(self.current())
            raise ListingUnusable(unusable, error) from error

    def record(self, version: int, listed: Mapping[str, Any]) -> dict[str, _Record | None]:
        """Keep what a listing said of each tool, unless a later one spoke. Returns what was kept before."""
        before: dict[str, _Record | None] = {}
        for name, tool in listed.items():
            kept = self._records.get(name)
            if kept is None or version >= kept.version:
                before[name] = kept
                self._records[name] = _Record(version, tool)
        return before

    def restore(self, name: str, record: _Record | None) -> None:
        """Go back to what was known of a tool before."""
        if record is None:
            del self._records[name]
        else:
            self._records[name] = record

    def mount(self, lease: Lease, mounted: Mounted) -> None:
        """Take down what a leg mounted, unless it has mounted from a later listing since."""
        held = self._mounted.get(lease)
        if held is None or mounted.version >= held.version:
            self._mounted[lease] = mounted

    def leave(self, lease: Lease) -> None:
        """A leg has gone: its names go with it, and the checks are written anew for those who stay."""
        self._mounted.pop(lease, None)
        try:
            self._apply(self.current())
        except Exception:
            _log.exception("the checks could not be written anew after a release")

    def current(self) -> list[Any]:
        """What is known of every tool that some leg mounts, in the order in which they became known."""
        names = frozenset().union(*(mounted.names for mounted in self._mounted.values()))
        return [record.tool for name, record in self._records.items() if name in names]

    def applies(self, tool: Any, apply: Apply) -> bool:
        """Whether one tool by itself can be written."""
        try:
            apply([tool])
        except Exception:
            return False
        return True

    def name_of(self, tool: Any) -> str:
        """The name of a tool: an entry of a listing, or an object with a `name`."""
        name: str = tool["name"] if isinstance(tool, Mapping) else tool.name
        return name


class ListingWriter:
    """Records the answer of one listing; to be made before the request is sent.

    Attributes:
        version: Its place in the order of the listings of its connection, from 1.
    """

    def __init__(self, records: ListingRecords, lease: Lease, version: int) -> None:
        self._records = records
        self._lease = lease
        self.version = version

    def __call__(self, tools: Iterable[Any], apply: Apply, retained: Collection[str] = frozenset()) -> None:
        """Record what the leg mounted, and write the checks of all legs.

        Used again it records at the same version. After the lease was released it does nothing.

        Args:
            tools: The tools that the leg mounted: entries of a listing, or objects with a `name`.
            apply: Writes the client's checks; it is kept, for when a leg goes.
            retained: The names among them that the listing did not return: they stay mounted, and nothing
                new is known of them.

        Raises:
            ListingUnusable: `apply` cannot write some tool of this listing. What was known of it before still
                is, and everything else is written.
        """
        if not self._lease.released:
            self._records.write(self._lease, self.version, tools, apply, retained)


class Lease:
    """One leg's hold on a pooled connection; as a context manager it is released at the end of the block.

    Attributes:
        released: True once it was given back.
    """

    def __init__(self, connection: PooledConnection) -> None:
        self.released = False
        self._connection = connection
        self._listeners: list[Callable[[], None]] = []

    @property
    def client(self) -> Any:
        """What the dial gave.

        Raises:
            LeaseReleased: The lease was given back, although others may still hold the connection.
        """
        self._must_be_held()
        return self._connection.client

    def open_listing(self) -> ListingWriter:
        """Open a listing on the connection; to be called before its request is sent.

        Returns:
            What records the answer. A listing that fails is simply not recorded.

        Raises:
            LeaseReleased: The lease was given back.
        """
        self._must_be_held()
        return self._connection.records.open(self)

    def definition(self, name: str) -> Any:
        """What the answers of a tool are to be judged by, where the SDK has no checks that can be written.

        Returns:
            What the latest listing said of it, None where no leg mounts it.

        Raises:
            LeaseReleased: The lease was given back.
        """
        self._must_be_held()
        records = self._connection.records
        return next((tool for tool in records.current() if records.name_of(tool) == name), None)

    def on_close(self, listener: Callable[[], None]) -> None:
        """Have `listener` called once if the connection closes under the lease; at once if it has closed.

        It is not called for the lease's own release, nor after it. What it raises is logged.
        """
        if self._connection.lost and not self.released:
            self.tell(listener)
        else:
            self._listeners.append(listener)

    async def release(self) -> None:
        """Give the hold back. The last one closes the connection, and waits until it is closed.

        A second time is nothing, but waits for the same close. The hold is given back at once, even if the
        wait is cancelled.
        """
        self.released = True
        self._connection.give_back(self)
        await self._connection.left()

    def closed_under_it(self) -> None:
        """The connection closed: tell whoever asked to be told."""
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            self.tell(listener)

    def tell(self, listener: Callable[[], None]) -> None:
        """Call one listener; what it raises disturbs nobody."""
        try:
            listener()
        except Exception:
            _log.exception("a listener raised when the connection closed")

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(self, *exc: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.release()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a lease is no record of a connection: keep the declaration, and acquire by its key")

    def _must_be_held(self) -> None:
        if self.released:
            raise LeaseReleased("the lease was released; acquire another one")
