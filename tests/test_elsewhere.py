"""Nothing leaves this machine while a scenario is played, whatever library and whatever thread tries."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import threading
import urllib.error
import urllib.request
from contextlib import suppress

import pytest
from mcp import ClientSession

from pytest_mcp_conformance import elsewhere
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from pytest_mcp_conformance.elsewhere import loopback_only
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play

SCENARIO = next(scenario for scenario in CATALOGUE if scenario.name == "answer_of_the_wrong_type")
NAME = "example.com"
ADDRESS = "192.0.2.1"  # of no host: kept for documentation
SAID = "the wrapper under test tried to connect to {}: scenarios allow 127.0.0.1 only"


def connects(address):
    with socket.socket() as sock:
        sock.connect(address)


def connects_if_it_can(address):
    with socket.socket() as sock:
        sock.connect_ex(address)


def sends(address):
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"", address)


def asks_by_http(address):
    http.client.HTTPConnection(*address).request("GET", "/")


def asks_by_urllib(address):
    try:
        urllib.request.urlopen(f"http://{address[0]}:{address[1]}/")
    except urllib.error.URLError as error:
        raise error.reason from None


def asks_in_a_loop(address):
    asyncio.run(_open(*address))


async def _open(host, port):
    await asyncio.open_connection(host, port)


WAYS_OUT = (connects, connects_if_it_can, sends, asks_by_http, asks_by_urllib, asks_in_a_loop)


@pytest.fixture
def told():
    said = []
    with loopback_only(said.append):
        yield said


def test_no_test_of_this_repository_leaves_this_machine():
    with pytest.raises(ConnectionRefusedError, match="tried to connect to"):
        socket.create_connection((ADDRESS, 80), timeout=1)


@pytest.mark.parametrize("way_out", WAYS_OUT)
@pytest.mark.parametrize("host", [NAME, ADDRESS])
def test_another_host_is_refused_and_named(told, way_out, host):
    said = SAID.format(f"{host}:80")
    with pytest.raises(ConnectionRefusedError) as refused:
        way_out((host, 80))
    assert str(refused.value) == said
    assert told == [said]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: socket.getaddrinfo(NAME, None),
        lambda: socket.getaddrinfo(NAME.encode(), None),
        lambda: socket.gethostbyname(NAME),
        lambda: socket.gethostbyname_ex(NAME),
        lambda: socket.gethostbyaddr(NAME),
    ],
)
def test_nobody_is_asked_for_a_name(told, ask):
    with pytest.raises(ConnectionRefusedError):
        ask()
    assert told == [SAID.format(NAME)]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST.", "127.9.8.7", b"localhost"])
def test_this_machine_is_reached(told, host):
    with socket.create_server(("127.0.0.1", 0)) as server, suppress(OSError):
        port = server.getsockname()[1]
        socket.create_connection((host, port), timeout=5).close()
    assert told == []


def test_what_leads_nowhere_is_left_alone(told, tmp_path):
    socket.getaddrinfo(None, 80)
    socket.getaddrinfo(ADDRESS, 80)
    socket.getaddrinfo("0.0.0.0", 0, flags=socket.AI_PASSIVE)
    here, there = socket.socketpair()
    with here, there:
        here.sendmsg([b"x"])
        assert there.recv(1) == b"x"
    with suppress(OSError):
        socket.gethostbyname(socket.gethostname())
    if hasattr(socket, "AF_UNIX"):
        place = os.path.relpath(tmp_path / "s")
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(place)
            server.listen()
            client.connect(place)
    assert told == []


def test_a_thread_of_the_test_is_told_of(told):
    refused = []

    def attempt():
        try:
            connects((ADDRESS, 80))
        except ConnectionRefusedError as error:
            refused.append(str(error))

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    assert refused == told == [SAID.format(f"{ADDRESS}:80")]


def test_an_older_thread_is_refused_and_nobody_is_blamed(told, monkeypatch):
    go = threading.Event()
    refused = []

    def attempt():
        go.wait()
        with pytest.raises(ConnectionRefusedError):
            connects((ADDRESS, 80))
        refused.append(True)

    thread = threading.Thread(target=attempt)
    monkeypatch.setattr(elsewhere, "_strangers", {thread})
    thread.start()
    go.set()
    thread.join()
    assert refused == [True]
    assert told == []


def test_afterwards_all_is_as_before(monkeypatch):
    monkeypatch.setattr(elsewhere, "_guards", [])
    before = {name: vars(socket.socket).get(name) for name in elsewhere._METHODS}
    with loopback_only():
        assert {name: vars(socket.socket).get(name) for name in before} != before
    assert {name: vars(socket.socket).get(name) for name in before} == before


def test_with_nobody_on_guard_nothing_is_refused():
    guards = []
    for event, given in (("socket.connect", (None, None)), ("socket.getaddrinfo", (NAME, 80))):
        assert elsewhere._hear(guards, elsewhere._ASKED, event, given) is None


def reaching_out(reach):
    @adapter("reaching", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def play_(dial):
        async with dial.session() as session:

            async def list_tools():
                with suppress(ConnectionRefusedError):
                    await reach()
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    return play_


async def _in_the_loop():
    await _open(NAME, 443)


async def _in_a_thread():
    await asyncio.to_thread(connects, (NAME, 443))


@pytest.mark.parametrize("reach", [_in_the_loop, _in_a_thread])
def test_a_wrapper_that_tries_is_told_so_though_it_hides_it(reach):
    played = play(SCENARIO, reaching_out(reach), era="handshake", compare=False)
    assert played.trouble == (SAID.format(f"{NAME}:443"),)


def test_a_request_that_never_became_a_connection_is_told_as_well():
    import httpx

    async def reach():
        with suppress(httpx.ConnectError):
            async with httpx.AsyncClient() as client:
                await client.get(f"https://{NAME}/?token=secret")

    @adapter("asks", claims=Claims(eras=("handshake",), transports=("http",)))
    async def asks(dial):
        async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await reach()

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    (said,) = play(SCENARIO, asks, era="handshake", way="http", compare=False).trouble
    assert said.startswith(
        f"the wrapper under test asked for GET https://{NAME}/: nothing leaves the process"
    )


def test_a_wrapper_that_fails_for_it_says_why():
    @adapter("telemetry", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def telemetry(dial):
        await _open(NAME, 443)
        yield

    (judgement,) = play(SCENARIO, telemetry, era="handshake", compare=False).judgements
    assert SAID.format(f"{NAME}:443") in judgement.detail


def test_the_attempt_is_an_event_of_the_history():
    @adapter("broken", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def broken(dial):
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                with suppress(ConnectionRefusedError):
                    await _open(NAME, 443)
                with suppress(RuntimeError):
                    await session.call_tool(tool.name, arguments)
                return "fine"

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    judgement = play(SCENARIO, broken, era="handshake", compare=False).judgements[0]
    assert any(f"refused {SAID.format(f'{NAME}:443')}" in line for line in judgement.history)
