"""The scripted server: what it says, when, and what it holds back. No I/O, plain dicts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import anyio

from pytest_mcp_conformance.clock import settle
from pytest_mcp_conformance.contract import ERAS, UsageError
from pytest_mcp_conformance.history import Event, Recorder, copied
from pytest_mcp_conformance.server import eras
from pytest_mcp_conformance.server.answering import Refused, result_for
from pytest_mcp_conformance.server.brittle import Brittle
from pytest_mcp_conformance.server.calls import Answer
from pytest_mcp_conformance.server.catalogue import Catalogue, Lister, Pages
from pytest_mcp_conformance.server.connection import Connection, Sink
from pytest_mcp_conformance.server.faults import REFUSED, Fault, possible, step_of
from pytest_mcp_conformance.server.gate import Gate, Held
from pytest_mcp_conformance.server.ledger import Ledger
from pytest_mcp_conformance.server.plans import Act, Plans
from pytest_mcp_conformance.server.tools import ABSENT, tool

if TYPE_CHECKING:
    from pytest_mcp_conformance.contract import Dial

__all__ = ["ScriptedServer"]

HOUR_MS = 3_600_000


class ScriptedServer:
    """An MCP server whose every word is scripted. It answers in the task that asked, and keeps every frame.

    Args:
        era: `handshake` (initialize, 2025-11-25 and older) or `modern` (2026-07-28).
        name: Tells two servers of one scenario apart.
        history: Where events are written; by default a history of its own.
        way: The way in over which it is played: `memory`, `http`, `stdio`, `loopback` or `sse`.

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
        self,
        era: str = "handshake",
        *,
        name: str = "server",
        history: Recorder | None = None,
        way: str = "memory",
    ) -> None:
        if era not in ERAS:
            raise UsageError(f"unknown era {era!r}: a server speaks {' or '.join(ERAS)}")
        self.era = era
        self.name = name
        self.way = way
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
        self._plans = Plans()
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
        self, method: str, act: Act, *, times: float = 1, when: Callable[[Event], bool] | None = None
    ) -> None:
        """Do `act` instead of answering the next `times` requests of `method`.

        Raises:
            UsageError: `times` is less than one.
        """
        self._plans.add(method, act, times, when or _any)

    def suffers(
        self,
        fault: Fault | str,
        at: str,
        *,
        times: float = 1,
        when: Callable[[Event], bool] | None = None,
    ) -> None:
        """Have a fault at the next `times` steps of a kind: see `FAULTS` and `STEPS`.

        Args:
            fault: The fault, or its name.
            at: The step.
            times: How often.
            when: Only for these requests, where the step is one.

        Raises:
            UsageError: The fault makes no sense at this step, in this era or over this way in.
        """
        fault, step = possible(fault, at, self.way, self.era), step_of(at)
        if when is not None and not step.method:
            raise UsageError(f"suffers({fault.name!r}, {at!r}, when=…): the step is no request")
        chosen = when or _any
        self._plans.add(step.method or at, fault, times, lambda each: step.takes(each) and chosen(each))
        for connection in self.connections if at == "close" else ():
            self._prepare_for_close(connection)

    def recovers(self) -> None:
        """Forget every failure that was scripted and not yet played, and accept connections again."""
        self._plans.clear()
        self.refusing = False

    def meets(self, step: str) -> Fault | None:
        """The fault that is to be played now at a step that is no request, where there is one."""
        return self._plans.at(step)

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
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another backend of anyio
            await anyio.wait_all_tasks_blocked()
        else:
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

    def drop(self, by: Fault | None = None) -> None:
        """Hang up on every connection; over stdio by a fault, as that the child is killed."""
        for connection in self.connections:
            connection.drop(by)

    # -- ways in -------------------------------------------------------------------------------------------

    def dial(self, principal: str | None = None) -> Dial:
        """The way in for one holder."""
        from pytest_mcp_conformance.server.ways.dial import ScriptedDial  # the ways import this module

        return ScriptedDial(self, principal)

    def over(self, transport: str) -> AbstractAsyncContextManager[Callable[..., Dial]]:
        """Another way in, for a URL or a command: an `async with` block that gives a `dial` of that way."""
        from pytest_mcp_conformance.server.ways.dial import dials_over  # as above

        return dials_over(self, transport)

    def open(self, sink: Sink, *, principal: str | None, headers: Mapping[str, str]) -> Connection:
        """Take a new connection.

        Raises:
            ConnectionRefusedError: The server refuses connections now.
        """
        fault = REFUSED if self.refusing else self.meets("connect")
        if fault is not None and fault.name == REFUSED.name:
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
        if fault is not None:
            fault.play(connection, None, _nothing)
        self._prepare_for_close(connection)
        return connection

    def another(self, name: str = "another") -> ScriptedServer:
        """A second server of the same era, with a script of its own, writing into the same history."""
        return ScriptedServer(self.era, name=name, history=self.history, way=self.way)

    def definition(self, name: str, principal: str | None = None) -> Mapping[str, Any] | None:
        """The definition of a tool as it is listed now, or `None` where there is no such tool."""
        return self._catalogue.entry(name, principal)

    def _owns(self, number: int) -> bool:
        return any(connection.number == number for connection in self.connections)

    def _is_idle(self, number: int) -> bool:
        return any(connection.number == number and connection.idle for connection in self.connections)

    # -- answering -----------------------------------------------------------------------------------------

    def on_request(self, connection: Connection, request: Event) -> None:
        """Answer one request: as is planned, else as the script stands now; held where a gate stands.

        What the way in does by itself, as a status of HTTP, it does at once.
        """
        plan = self._plans.meet(request)
        if isinstance(plan, Fault) and plan.plays is None:
            connection.suffer(plan, request)
            if not plan.answers:
                return
            plan = None
        if plan is None:
            answer = self._reply(connection, request)
        elif isinstance(plan, Fault):
            answer = partial(plan.play, connection, request, partial(self._reply, connection, request))
        else:
            answer = partial(plan, connection, request)
        gate = next((gate for gate in self._gates if gate.takes(request)), None)
        if gate is None:
            answer()
        else:
            gate.held.append(Held(connection, request, answer))

    def _prepare_for_close(self, connection: Connection) -> None:
        """Tell a child now what it is to do later; over HTTP a fault waits for the client to leave."""
        fault = self.meets("close") if self.way == "stdio" and connection.open else None
        if fault is not None:
            connection.suffer(fault, None)

    def _reply(self, connection: Connection, request: Event) -> Callable[[], None]:
        if request.method == "subscriptions/listen" and self.era == "modern":
            return lambda: connection.subscribe(request)
        try:
            result = result_for(request, self, self._catalogue, self._answers)
        except Refused as refused:
            code, text, data = refused.args
            return lambda: connection.fail(request, code, text, data)
        return lambda: connection.answer(request, result)


def _any(request: Event) -> bool:
    return True


def _nothing() -> Callable[[], None]:
    return lambda: None
