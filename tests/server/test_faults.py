"""Each fault at each step and over each way in where it makes sense, before the SDK's own clients."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PaginatedRequestParams

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract import WAYS, UsageError
from pytest_mcp_conformance.server import FAULTS, STEPS, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD
from pytest_mcp_conformance.server.ways.in_process import InProcess
from pytest_mcp_conformance.server.ways.loopback import Loopback
from pytest_mcp_conformance.server.ways.stdio import StdioWay
from tests.server.http_clients import ERAS, LIBRARY, MODERN, listening, names
from tests.server.plain_http import BOTH, message
from tests.server.stdio_clients import parameters

LATE = 5.0
"""Seconds that a slow fault takes here; nobody has lost patience by then."""

LIMIT = 8.0
"""Seconds after which the session gives a request up."""

PATIENCE = 60.0
"""Seconds in which a session has ended as well, whatever it does for a farewell."""

KINDS: Mapping[str, Any] = MappingProxyType(
    {"http": InProcess, "loopback": Loopback, "stdio": StdioWay, "sse": partial(InProcess, sse=True)}
)

SHOWN = {
    "refused": "nothing",
    "silent": "nothing",
    "malformed": "answered",
    "slow": "answered",
    "slow_body": "answered",
    "noise": "answered",
    **dict.fromkeys(("hangs_up", "ends", "killed", "closes_stdout"), "closed"),
}
"""What the ledger shows after the request, if not that it failed."""


@asynccontextmanager
async def connected(server, heard=None):
    """A session past its handshake, over the way of the server; what it hears goes into `heard`."""

    async def hear(message):
        if heard is not None:
            heard.append((asyncio.get_running_loop().time(), message))

    limit = LIMIT if MODERN else timedelta(seconds=LIMIT)
    async with AsyncExitStack() as stack:
        if server.way == "memory":
            streams = await stack.enter_async_context(server.dial().streams())
        else:
            way = KINDS[server.way](server)
            stack.push_async_callback(way.aclose)
            stack.push_async_callback(server.settle)  # the last words are still under way
            if server.way == "stdio":
                streams = await stack.enter_async_context(stdio_client(parameters(way.command)))
            elif server.way == "sse":
                streams = await stack.enter_async_context(sse_client(way.url))
            else:
                client = await stack.enter_async_context(import_module(LIBRARY).AsyncClient(timeout=300.0))
                streams = await stack.enter_async_context(streamable_http_client(way.url, http_client=client))
        session = await stack.enter_async_context(
            ClientSession(*streams[:2], read_timeout_seconds=limit, message_handler=hear)
        )
        await (session.discover() if server.era == "modern" else session.initialize())
        yield session


REQUESTS = {
    "list": lambda session: session.list_tools(),
    "page": lambda session: session.list_tools(params=PaginatedRequestParams(cursor="c2")),
    "call": lambda session: session.call_tool("a", {}),
}


def cells(*steps):
    """Fault, era, step and way, wherever they go together; over sockets and pipes one request for all."""
    return [
        pytest.param(fault, era, step, way, id=f"{fault.name}-{era}-{step}-{way}")
        for fault in FAULTS.values()
        for era in ERAS
        for step, ways in fault.places(era).items()
        if step in steps
        and (STEPS[step].method not in {*HANDSHAKE_METHOD.values()} - {HANDSHAKE_METHOD[era]})
        for way in ways
        if way in ("memory", "http", "sse") or step in ("connect", "call", "notice", "close")
    ]


def scripted(fault, era, step, way, **how):
    server = ScriptedServer(era, way=way)
    server.history.keep_time(asyncio.get_running_loop().time)
    server.pages(["a"], ["b"])
    server.suffers(replace(fault, seconds=LATE), step, **how)
    return server


def shown_after(server, method):
    """The kind of what became of the one request of a method; the client's own leaving is not of it."""
    (asked,) = server.ledger.frames(method)
    after = [
        event.kind
        for event in server.ledger.frames(kind=("answered", "failed", "closed"), since=asked.n)
        if event.id == asked.id or event.text == "dropped by the server"
    ]
    return after[0] if after else "nothing"


@pytest.mark.parametrize(
    ("fault", "era", "step", "way"), cells("connect", "initialize", "discover", *REQUESTS)
)
def test_a_request_suffers(fault, era, step, way):
    async def main():
        server = scripted(fault, era, step, way)
        error = None
        try:
            async with connected(server) as session:
                if step in REQUESTS:
                    await REQUESTS[step](session)
        except Exception as raised:
            error = raised
        return server, error, asyncio.get_running_loop().time()

    server, error, seconds = run(main)
    assert (error is None) is (fault.name in ("slow", "slow_body", "noise"))
    assert seconds >= {"slow": LATE, "slow_body": LATE, "silent": LIMIT}.get(fault.name, 0.0)
    assert seconds < PATIENCE
    if MODERN or not fault.status:  # after an error of HTTP mcp 1.x leaves its session without a word
        assert server.ledger.open_connections() == []
    if step == "connect":
        closed = [event.text for event in server.ledger if event.kind == "closed"]
        assert closed == {"refused": [], "noise": ["by the client"]}.get(
            fault.name, ["dropped by the server"]
        )
    else:
        assert shown_after(server, STEPS[step].method) == SHOWN.get(fault.name, "failed")


@pytest.mark.parametrize(("fault", "era", "step", "way"), cells("notice"))
def test_a_notice_suffers(fault, era, step, way):
    async def main():
        heard = []
        server = scripted(fault, era, step, way)
        async with connected(server, heard) as session, listening(session, era):
            await server.settle()
            at = asyncio.get_running_loop().time()
            assert await server.notify_list_changed() == 0
            await asyncio.sleep(2 * LATE)
            noticed = server.ledger.frames("notifications/tools/list_changed", kind="noticed")
            assert [event.at - at for event in noticed] == ([LATE] if fault.name == "slow" else [])
            lost = SHOWN.get(fault.name) == "closed"
            assert [event.text for event in server.ledger if event.kind == "closed"] == (
                ["dropped by the server"] if lost else []
            )
            if not lost:
                assert await server.notify_list_changed() == 1

    run(main)


@pytest.mark.parametrize(("fault", "era", "step", "way"), cells("close"))
def test_a_close_suffers(fault, era, step, way):
    async def main():
        server = scripted(fault, era, step, way)
        async with connected(server) as session:
            await names(session)
            at = asyncio.get_running_loop().time()
        return server, asyncio.get_running_loop().time() - at

    server, seconds = run(main)
    assert server.ledger.open_connections() == []
    least = {"silent": LATE, "slow": LATE, "ignores_eof": 2.0, "ignores_sigterm": 4.0}.get(fault.name, 0.0)
    assert least <= seconds <= 310.0, "the patience of the HTTP client is 300 s"
    assert server.meets("close") is None, "it was not played"


def test_every_fault_is_played_somewhere_over_every_way_that_it_names():
    for fault in FAULTS.values():
        places = {era: fault.places(era) for era in ("handshake", "modern")}
        assert any(places.values())
        assert {step for steps in places.values() for step in steps} == set(fault.at)
        assert set(fault.at) <= set(STEPS)
        assert {way for ways in fault.at.values() for way in ways} <= set(WAYS)


@pytest.mark.parametrize(
    ("fault", "at", "way", "era", "told"),
    [
        ("unautorized", "call", "http", "handshake", r"'unautorized': there is no such fault.* unauthorized"),
        ("error", "calls", "memory", "handshake", r"at='calls': there is no such step.* call, notice, close"),
        (
            "killed",
            "call",
            "http",
            "handshake",
            r"the fault 'killed' makes no sense at 'call' over http in the handshake era; what is possible: "
            r"connect over stdio; .*call over stdio",
        ),
        (
            "unauthorized",
            "notice",
            "http",
            "handshake",
            r"'unauthorized' makes no sense at 'notice'.* close over",
        ),
        ("slow", "close", "memory", "handshake", r"at 'close' over memory.* close over http, loopback"),
        ("slow", "close", "http", "modern", r"at 'close' over http in the modern era.* notice over memory"),
        ("forgotten_session", "call", "http", "modern", r"nothing in this era, only in handshake"),
    ],
)
def test_a_fault_where_it_makes_no_sense_is_refused(fault, at, way, era, told):
    with pytest.raises(UsageError, match=told):
        ScriptedServer(era, way=way).suffers(fault, at)


def test_only_requests_can_be_chosen():
    with pytest.raises(UsageError, match=r"suffers\('refused', 'connect', when=…\): the step is no request"):
        ScriptedServer().suffers("refused", "connect", when=lambda request: True)


def test_a_fault_is_played_so_many_times_and_not_after_recovery():
    async def main():
        server = ScriptedServer()
        server.has_tools("a", "b")
        server.suffers("error", "call", times=2, when=lambda request: request.params["name"] == "b")
        async with connected(server) as session:

            async def goes_well(name):
                try:
                    await session.call_tool(name, {})
                except Exception:
                    return False
                return True

            went = [await goes_well(name) for name in "abbb"]
            server.suffers("malformed", "list")
            server.recovers()
            await names(session)
        return went

    assert run(main) == [True, False, False, True]


@pytest.mark.parametrize("way", ["http", "loopback"])
def test_a_status_tells_itself_and_waits_for_no_gate(way):
    async def main():
        server = ScriptedServer(way=way)
        server.has_tools("a")
        server.suffers("unauthorized", "call")
        plain, engine = await _answered(server)
        assert plain.status_code == 401
        assert plain.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        assert plain.text == "scripted"
        assert [each.status for each in engine.exchanged] == [200, 401]

    run(main)


async def _answered(server):
    """The response to a call by hand that a gate would hold, and the engine that gave it."""
    way = KINDS[server.way](server)
    try:
        async with import_module(LIBRARY).AsyncClient(headers={"accept": BOTH}) as client:
            opened = await client.post(
                way.url,
                json=message("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={}),
            )
            with server.holding("tools/call") as gate:
                session = {"mcp-session-id": opened.headers["mcp-session-id"]}
                reply = await client.post(way.url, json=message("tools/call", 1, name="a"), headers=session)
                assert gate.held == []
        return reply, way.engine
    finally:
        await way.aclose()


def test_what_is_slow_is_as_old_as_its_request():
    async def main():
        server = ScriptedServer()
        server.has_tools("old")
        server.suffers("slow", "list")
        async with server.dial().session() as session:
            listing = asyncio.create_task(names(session))
            await server.settle()
            server.has_tools("new")
            return await listing

    assert run(main) == ["old"]


@pytest.mark.parametrize("fault", ["ends", "killed", "closes_stdout"])
def test_a_child_ends_by_a_fault_at_once(fault):
    async def main():
        server = ScriptedServer(way="stdio")
        async with connected(server) as session:
            with server.holding("tools/list") as gate:
                listing = asyncio.create_task(names(session))
                await gate.arrived()
                server.drop(FAULTS[fault])
                with pytest.raises(Exception, match=r"(?i)closed"):
                    await listing
        return [event.text for event in server.ledger if event.kind == "closed"]

    assert run(main) == ["dropped by the server"]
