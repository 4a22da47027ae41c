"""The scripted server: what it says, when, and what it holds back. No I/O, plain dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.clock import settle
from pytest_mcp_conformance.contract import ERAS, UsageError
from pytest_mcp_conformance.history import Event, Recorder, copied
from pytest_mcp_conformance.server import eras
from pytest_mcp_conformance.server.brittle import Brittle
from pytest_mcp_conformance.server.calls import Answer, result_of
from pytest_mcp_conformance.server.catalogue import Catalogue, Lister, Pages
from pytest_mcp_conformance.server.connection import Connection, Message, Sink
from pytest_mcp_conformance.server.gate import Gate, Held
from pytest_mcp_conformance.server.ledger import Ledger
from pytest_mcp_conformance.server.tools import ABSENT, tool

if TYPE_CHECKING:
    from pytest_mcp_conformance.contract import Dial

__all__ = ["ScriptedServer"]

HOUR_MS = 3_600_000


@dataclass
class _Step:
    """Something to do instead of answering, for the next few requests of a method."""

    method: str
    act: Callable[[Connection, Event], None]
    left: float
    when: Callable[[Event], bool] | None


class ScriptedServer:
    """An MCP server whose every word is scripted. It answers in the task that asked, and keeps every frame.

    Args:
        era: `handshake` (initialize, 2025-11-25 and older) or `modern` (2026-07-28).
        name: Tells two servers of one scenario apart.
        history: Where events are written; by default a history of its own.

    Attributes:
        ledger: Every frame, and waiting for one.
        ttl_ms: The lifetime that modern listings carry, in milliseconds; `ABSENT` leaves it out. A function
            gives each page its own, by the cursor that asks for it (`ABSENT` for the first).
        cache_scope: The scope that modern listings carry.
        grants: What a modern subscription is granted when it asks.
        capabilities: What it says that it can do, as the handshake carries it.
        versions: The handshake versions spoken, oldest first.
        refusing: True while the server refuses every connection.
        brittle: What transports that are opened now may break by; None for transports that cannot break.
        generation: How many times the tools were changed.
    """

    def __init__(
        self, era: str = "handshake", *, name: str = "server", history: Recorder | None = None
    ) -> None:
        if era not in ERAS:
            raise UsageError(f"unknown era {era!r}: a server speaks {' or '.join(ERAS)}")
        self.era = era
        self.name = name
        self.history = history if history is not None else Recorder()
        self.connections: list[Connection] = []
        self.ledger = Ledger(self.history, self._owns, self._is_idle)
        self.ttl_ms: Any = 0
        self.cache_scope: Any = "private"
        self.grants = {
            "toolsListChanged",
            "promptsListChanged",
            "resourcesListChanged",
            "resourceSubscriptions",
        }
        self.capabilities = dict(eras.CAPABILITIES)
        self.versions: tuple[str, ...] = eras.HANDSHAKE_VERSIONS
        self.refusing = False
        self.brittle: Brittle | None = None
        self.generation = 0
        self._catalogue = Catalogue()
        self._answers: dict[str, Answer] = {}
        self._steps: list[_Step] = []
        self._gates: list[Gate] = []

    @property
    def label(self) -> str:
        """Its name in a history, empty for the usual one."""
        return "" if self.name == "server" else self.name

    # -- what it says --------------------------------------------------------------------------------------

    def has_tools(self, *tools: str | Mapping[str, Any], principal: str | None = None) -> None:
        """List these tools from now on, names or entries, for everybody or for one principal."""
        self.pages(tools, principal=principal)

    def pages(
        self, *pages: Sequence[Any], cursors: Sequence[str] | None = None, principal: str | None = None
    ) -> None:
        """List these pages from now on.

        Args:
            pages: The tools of each page, names or entries.
            cursors: What each page but the last names as the next one; by default `c2`, `c3`…
            principal: Only for this principal.
        """
        for page in pages:
            if isinstance(page, str):
                raise UsageError(f"pages({page!r}): a page is a list of tools; write pages([{page!r}])")
        named = [[tool(entry) if isinstance(entry, str) else entry for entry in page] for page in pages]
        given = cursors if cursors is not None else [f"c{n}" for n in range(2, len(pages) + 1)]
        self.lists_by(Pages(named, given), principal=principal)

    def lists_by(self, lister: Lister, *, principal: str | None = None) -> None:
        """List by a function from now on: it takes a cursor, and gives tools and next cursor."""
        self._catalogue.set(lister, principal)
        self.generation += 1
        self.history.record(
            "changed",
            text=f"tools changed (-> {self.generation})",
            generation=self.generation,
            server=self.label,
            principal=principal,
        )

    def answers(self, name: str, out: Any = ABSENT, **how: Any) -> None:
        """Answer calls of `name` like this from now on, listed or not; `how` is as in `Answer`."""
        self._answers[name] = Answer(out=out, **how)

    def fails(
        self,
        method: str,
        code: int = -32603,
        message: str = "scripted failure",
        *,
        times: float = 1,
        when: Callable[[Event], bool] | None = None,
    ) -> None:
        """Answer the next `times` requests of `method` with a JSON-RPC error."""
        self.acts(
            method,
            lambda connection, request: connection.fail(request, code, message),
            times=times,
            when=when,
        )

    def gives(self, method: str, result: Any, *, times: float = 1) -> None:
        """Answer the next `times` requests of `method` with this very result, however malformed."""
        body = copied(result)
        self.acts(method, lambda connection, request: connection.answer(request, copied(body)), times=times)

    def drops_on(self, method: str, *, times: float = 1, when: Callable[[Event], bool] | None = None) -> None:
        """Hang up when the next `times` requests of `method` arrive."""
        self.acts(method, lambda connection, request: connection.drop(), times=times, when=when)

    def acts(
        self,
        method: str,
        act: Callable[[Connection, Event], None],
        *,
        times: float = 1,
        when: Callable[[Event], bool] | None = None,
    ) -> None:
        """Do `act` instead of answering the next `times` requests of `method`.

        Raises:
            UsageError: `times` is less than one.
        """
        if times < 1:
            raise UsageError(f"times={times!r}: a step is played once or more; leave it out instead")
        self._steps.append(_Step(method, act, times, when))

    def recovers(self) -> None:
        """Forget every failure that was scripted and not yet played, and accept connections again."""
        self._steps.clear()
        self.refusing = False

    # -- when it says it -----------------------------------------------------------------------------------

    def holding(self, method: str, *, when: Callable[[Event], bool] | None = None) -> Gate:
        """Hold the answers to `method` inside a `with` block; the request's arrival freezes the answer."""
        gate = Gate(self.ledger, method, when, self._gates.remove)
        self._gates.append(gate)
        return gate

    async def notify_list_changed(
        self,
        *,
        principal: str | EllipsisType | None = ...,
        connections: Sequence[Connection] | None = None,
        settled: bool = True,
    ) -> int:
        """Send the tools' change notice to every connection that may get it, and let it be read.

        Args:
            principal: Only to this principal's connections.
            connections: Only to these.
            settled: Return only when everything is quiet again; else the next frame follows in the same turn.

        Returns:
            On how many channels it went out.
        """
        sent = 0
        for connection in self.connections if connections is None else connections:
            if principal is ... or connection.principal == principal:
                sent += connection.list_changed()
        if settled:
            await self.settle()
        return sent

    async def settle(self) -> None:
        """Return when everything is quiet: every task waits for something that is not there yet."""
        await settle()
        self.history.came_to_rest()

    async def left_open(self) -> list[int]:
        """The numbers of the connections that are open once everything is quiet.

        Beside memory a client's hanging up takes its time to be heard.
        """
        await self.settle()
        return self.ledger.open_connections()

    def end_subscriptions(self, how: str) -> int:
        """End every modern listen stream: by `result`, by a `cancelled` notice, or by an `error`."""
        return sum(connection.end_subscriptions(how) for connection in self.connections)

    def drop(self) -> None:
        """Hang up on every connection."""
        for connection in self.connections:
            connection.drop()

    # -- ways in -------------------------------------------------------------------------------------------

    def dial(self, principal: str | None = None) -> Dial:
        """The way in for one holder."""
        from pytest_mcp_conformance.server.ways.dial import ScriptedDial  # the ways import this module

        return ScriptedDial(self, principal)

    def open(self, sink: Sink, *, principal: str | None, headers: Mapping[str, str]) -> Connection:
        """Take a new connection.

        Raises:
            ConnectionRefusedError: The server refuses connections now.
        """
        if self.refusing:
            self.history.record(
                "barred",
                text="a connection was refused",
                generation=self.generation,
                server=self.label,
                principal=principal,
            )
            raise ConnectionRefusedError("the scripted server refuses connections")
        number = 1 + sum(event.kind == "opened" for event in self.history)
        connection = Connection(self, number, sink, principal, headers)
        self.connections.append(connection)
        connection.record_opening()
        return connection

    def another(self, name: str = "another") -> ScriptedServer:
        """A second server of the same era, with a script of its own, writing into the same history."""
        return ScriptedServer(self.era, name=name, history=self.history)

    def definition(self, name: str, principal: str | None = None) -> Mapping[str, Any] | None:
        """The definition of a tool as it is listed now, or `None` where there is no such tool."""
        return self._catalogue.entry(name, principal)

    def _owns(self, number: int) -> bool:
        return any(connection.number == number for connection in self.connections)

    def _is_idle(self, number: int) -> bool:
        return any(connection.number == number and connection.idle for connection in self.connections)

    # -- answering -----------------------------------------------------------------------------------------

    def on_request(self, connection: Connection, request: Event) -> None:
        """Answer one request: by a scripted step, else as the script stands now; held where a gate stands."""
        answer = self._reply(connection, request)
        gate = next((gate for gate in self._gates if gate.takes(request)), None)
        if gate is None:
            answer()
        else:
            gate.held.append(Held(connection, request, answer))

    def _reply(self, connection: Connection, request: Event) -> Callable[[], None]:
        step = next(
            (s for s in self._steps if s.method == request.method and (not s.when or s.when(request))), None
        )
        if step is not None:
            step.left -= 1
            if step.left <= 0:
                self._steps.remove(step)
            return lambda: step.act(connection, request)
        if request.method == "subscriptions/listen" and self.era == "modern":
            return lambda: connection.subscribe(request)
        try:
            result = self._result(request)
        except _Refused as refused:
            code, text, data = refused.args
            return lambda: connection.fail(request, code, text, data)
        return lambda: connection.answer(request, result)

    def _result(self, request: Event) -> Message:
        method = request.method
        if method == "initialize":
            if self.era == "modern":
                supported = {
                    "supported": [eras.MODERN_VERSION],
                    "requested": request.params.get("protocolVersion"),
                }
                raise _Refused(eras.UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
            return eras.initialized(request.params, self.versions, self.capabilities)
        if method == "ping":
            return {}
        if method == "tools/list":
            return self._listing(request)
        if method == "tools/call":
            return self._call(request)
        if method == "server/discover" and self.era == "modern":
            return eras.discovery(self.capabilities)
        if method == "logging/setLevel" and self.era == "handshake":
            return {}
        raise _Refused(-32601, f"Method not found: {method}", None)

    def _listing(self, request: Event) -> Message:
        cursor = request.params.get("cursor")
        place = ABSENT if cursor is None else cursor
        page = self._catalogue.page(place, request.principal)
        if page is None:
            raise _Refused(-32602, f"Invalid cursor: {cursor!r}", None)
        tools, following = page
        result: Message = {"tools": tools}
        if following is not ABSENT:
            result["nextCursor"] = following
        lifetime = self.ttl_ms(place) if callable(self.ttl_ms) else self.ttl_ms
        return eras.stamped(result, self.era, ttlMs=lifetime, cacheScope=self.cache_scope)

    def _call(self, request: Event) -> Message:
        name = request.params.get("name")
        entry = self.definition(str(name), request.principal)
        if entry is None and name in self._answers:
            entry = tool(str(name), "integer")
        if entry is None:
            raise _Refused(-32602, f"Unknown tool: {name}", None)
        result = result_of(entry, request.arguments, self._answers.get(str(name), Answer()))
        return eras.stamped(result, self.era)


class _Refused(Exception):
    """A JSON-RPC error: code, message, data."""
