"""One holder's way in to a scripted server."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.clock import Clock
from pytest_mcp_conformance.contract import WAYS, AdapterError, Dial, NotSpoken, UsageError, eras_over
from pytest_mcp_conformance.server.ways.configuration import Configuration
from pytest_mcp_conformance.server.ways.memory import memory_streams
from pytest_mcp_conformance.server.ways.ways import Ways, not_installed

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["ScriptedDial", "dials_over"]


class _NoSuchThing(AdapterError, AttributeError):
    """What an adapter asked its dial for is not there; `hasattr` is answered as by any object."""


class ScriptedDial:
    """What an adapter is given; see `pytest_mcp_conformance.Dial`.

    Args:
        server: The script to connect to.
        principal: Whose credentials to carry.
        clock: The scenario's clock.
        double: The double of the SDK that `session` gives.
        ways: The ways in of this play; by default memory alone.
        era: What to tell of the era, by default the era that the server speaks.
        renewal: How many times the principal's credential was replaced by a new one.

    Attributes:
        gave_session: Whether a session was asked for.
        configuration: The objects that `headers` and `settings` give each time; None for new ones each time.
    """

    def __init__(
        self,
        server: ScriptedServer,
        principal: str | None = None,
        clock: Clock | None = None,
        double: Any = None,
        ways: Ways | None = None,
        era: str = "",
        renewal: int = 0,
    ) -> None:
        self._ways = ways if ways is not None else Ways()
        self._server = server
        self._principal = principal
        self._clock = clock
        self._double = double
        self._era = era or server.era
        self._renewal = renewal
        self.gave_session = False
        self.configuration: Configuration | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Tell a misspelt name."""
            known = [each for each in dir(Dial) if not each.startswith("_")]
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}"
            raise _NoSuchThing(f"dial.{name}: a dial has no such thing; {hint}")

    def open(self) -> None:
        """Open the way in, which only the loop's thread can; from then on any thread may ask for it."""
        if self.transport == "stdio":
            self._ways.command_of(self._server, self._principal)
        elif self.transport != "memory":
            self._ways.url_of(self._server, self._principal, self.own_headers)

    @property
    def url(self) -> str:
        """A streamable HTTP address; over `sse` that of the transport before it.

        Raises:
            AdapterError: This run plays over another way in.
        """
        self._ways.must_give("url")
        return self._ways.url_of(self._server, self._principal, self.own_headers)

    @property
    def command(self) -> Sequence[str]:
        """The argv of a stdio server.

        Raises:
            AdapterError: This run plays over another way in.
        """
        self._ways.must_give("command")
        return self._ways.command_of(self._server, self._principal)

    @property
    def headers(self) -> dict[str, str]:
        """The principal's headers, made up for the scenario; `{}` where there is no principal."""
        return self.own_headers if self.configuration is None else self.configuration.headers

    def settings(self, **more: Any) -> dict[str, Any]:
        """The settings of one server: `command` and `args` over stdio, else `url` and `headers`; and `more`.

        Raises:
            AdapterError: This run plays over memory.
        """
        wanted: dict[str, Any]
        if self.transport == "stdio":
            command, *arguments = self.command
            wanted = {"command": command, "args": arguments, **more}
        else:
            wanted = {"url": self.url, "headers": self.headers, **more}
        return wanted if self.configuration is None else self.configuration.settings(wanted)

    @property
    def http_client(self) -> Any:
        """The HTTP client of the caller's own, where it has one."""
        return None if self.configuration is None else self.configuration.http_client

    @property
    def own_headers(self) -> dict[str, str]:
        """The headers that stand for the principal, a new object each time."""
        if self._principal is None:
            return {}
        named = f"{self._principal}\0{self._renewal}" if self._renewal else self._principal
        token = hashlib.sha256(named.encode()).hexdigest()[:16]
        return {"Authorization": f"Bearer scripted-{token}"}

    @property
    def principal(self) -> str | None:
        """The principal's name."""
        return self._principal

    @property
    def clock(self) -> Clock:
        """The scenario's clock, or that of the running loop."""
        return self._clock if self._clock is not None else Clock(asyncio.get_running_loop())

    @property
    def transport(self) -> str:
        """The way in that this run plays."""
        return self._ways.transport

    @property
    def era(self) -> str:
        """The era that the server speaks, or `auto`."""
        return self._era

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """One connection over memory.

        Raises:
            AdapterError: This run plays over another way in.
        """
        self._ways.must_give("streams")
        return memory_streams(self._server, self._principal, self.own_headers)

    @asynccontextmanager
    async def session(self, double: Any = None) -> AsyncIterator[Any]:
        """An entered SDK session over memory, past its handshake.

        Args:
            double: A double of the SDK, as `server.sdk_double.Forgetful()`; by default the one that the
                scenario is about, and the SDK itself where it is about none.

        Raises:
            NotSpoken: The installed SDK does not speak this era.
            AdapterError: This run plays over another way in, or `double` is none.
        """
        self._ways.must_give("session")
        from mcp import ClientSession  # heavy, and only wanted by adapters that take a session

        self.gave_session = True
        era = self._server.era
        if era == "modern" and not hasattr(ClientSession, "discover"):
            raise NotSpoken("the installed mcp 1.x does not speak the modern era")
        chosen = self._double if double is None else double
        if chosen is not None and not hasattr(chosen, "session"):
            raise AdapterError(
                f"dial.session(double={double!r}): no double; use Forgetful() of server.sdk_double"
            )
        async with self.streams() as (read, write):
            made = ClientSession(read, write) if chosen is None else chosen.session(read, write)
            async with made as session:
                await (session.discover() if era == "modern" else session.initialize())
                yield session


@asynccontextmanager
async def dials_over(server: ScriptedServer, transport: str) -> AsyncIterator[Callable[..., ScriptedDial]]:
    """What makes the dials of `server` over another way in, which is closed at the end of the block.

    Raises:
        UsageError: There is no such way in, or none in the server's era, or what it needs is not installed.
    """
    if transport not in WAYS:
        raise UsageError(f"over({transport!r}): no way in is called that; write one of {', '.join(WAYS)}")
    if server.era not in eras_over(transport):
        raise UsageError(f"over({transport!r}): the {server.era} era has no such way in; write http")
    if missing := not_installed(transport):
        raise UsageError(f"over({transport!r}): {missing}")
    ways = Ways(transport)

    def dial(principal: str | None = None) -> ScriptedDial:
        return ScriptedDial(server, principal, ways=ways)

    try:
        yield dial
    finally:
        await ways.aclose()
