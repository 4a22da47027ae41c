"""The rounds of a call in the modern era, against a scripted server."""

from __future__ import annotations

import asyncio

import pytest
from mcp_conformance_reference import CallFailed, ReferenceClient, RequestFailed
from mcp_conformance_reference.rounds import HEADER_MISMATCH

from pytest_mcp_conformance.adapters import sdk_major
from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer, tool

pytestmark = pytest.mark.skipif(sdk_major() < 2, reason="mcp 1.x does not speak the modern era")


def question(state: str | None = None, **asked: object) -> dict[str, object]:
    """An answer that asks something, or only gives a state."""
    result: dict[str, object] = {"resultType": "input_required"}
    if asked:
        result["inputRequests"] = asked
    if state is not None:
        result["requestState"] = state
    return result


def played(server: ScriptedServer, **settings: object) -> object:
    """The outcome of one call of `a`: its result, or what it raised."""

    async def script() -> object:
        server.history.keep_time(asyncio.get_running_loop().time)
        async with ReferenceClient(server.dial().streams, era="modern", **settings) as client:
            try:
                return (await client.call_tool("a", {"nonce": "n"})).structured_content
            except CallFailed as failed:
                return failed

    return run(script)


def rounds_of(server: ScriptedServer) -> list[dict[str, object]]:
    """What each round sent beside the name and the arguments."""
    known = ("name", "arguments", "_meta")
    return [
        {key: value for key, value in call.params.items() if key not in known}
        for call in server.ledger.calls("n")
    ]


@pytest.fixture
def server() -> ScriptedServer:
    server = ScriptedServer("modern")
    server.has_tools(tool("a", "integer"))
    return server


async def yes(key: str, request: dict[str, object]) -> dict[str, object]:
    return {"action": "accept", "content": {"asked": key, "by": request["method"]}}


def test_a_question_is_answered_under_a_new_id_with_the_state_that_it_came_with(
    server: ScriptedServer,
) -> None:
    server.gives("tools/call", question("s1", city={"method": "elicitation/create", "params": {}}))
    assert played(server, on_input=yes) == {"nonce": "n", "out": 1}
    answer = {"action": "accept", "content": {"asked": "city", "by": "elicitation/create"}}
    assert rounds_of(server) == [{}, {"inputResponses": {"city": answer}, "requestState": "s1"}]
    assert len({call.id for call in server.ledger.calls("n")}) == 2


def test_a_state_alone_goes_back_after_a_pause(server: ScriptedServer) -> None:
    server.gives("tools/call", question("s1"))
    assert played(server, on_input=yes) == {"nonce": "n", "out": 1}
    first, second = server.ledger.calls("n")
    assert second.params["requestState"] == "s1"
    assert second.at - first.at == pytest.approx(0.05)


def test_a_server_that_asks_without_end_is_told_so(server: ScriptedServer) -> None:
    server.gives("tools/call", question("s", x={"method": "roots/list"}), times=float("inf"))
    failed = played(server, on_input=yes, max_rounds=3)
    assert isinstance(failed, CallFailed)
    assert "after 3 rounds" in str(failed)
    assert len(rounds_of(server)) == 4


def test_a_question_that_nobody_can_answer_is_a_failed_call(server: ScriptedServer) -> None:
    server.gives("tools/call", question("s", x={"method": "roots/list"}))
    failed = played(server)
    assert isinstance(failed, CallFailed)
    assert "input_required" in str(failed)
    assert len(rounds_of(server)) == 1


def test_what_can_be_answered_is_declared_with_each_request(server: ScriptedServer) -> None:
    played(server, on_input=yes)
    played(server)
    declared = [
        set(call.params["_meta"]["io.modelcontextprotocol/clientCapabilities"])
        for call in server.ledger.calls("n")
    ]
    assert declared == [{"elicitation", "sampling", "roots"}, set()]


def test_a_header_mismatch_is_answered_by_one_listing_and_one_more_call(server: ScriptedServer) -> None:
    server.fails("tools/call", HEADER_MISMATCH, "Mcp-Param-x")
    listed = len(server.ledger.listings())
    assert played(server) == {"nonce": "n", "out": 1}
    assert len(server.ledger.listings()) - listed == 2
    assert len(rounds_of(server)) == 2


def test_a_second_header_mismatch_is_an_error(server: ScriptedServer) -> None:
    server.fails("tools/call", HEADER_MISMATCH, "Mcp-Param-x", times=2)
    failed = played(server)
    assert isinstance(failed, CallFailed)
    assert failed.code == HEADER_MISMATCH
    assert len(rounds_of(server)) == 2


READ = {"resultType": "complete", "contents": [{"uri": "scripted://one", "text": "here"}], "ttlMs": 3_600_000}


def read_of(server: ScriptedServer, **settings: object) -> object:
    """The outcome of reading a resource twice: the texts, or what the first read raised."""

    async def script() -> object:
        async with ReferenceClient(server.dial().streams, era="modern", **settings) as client:
            try:
                read = [await client.read_resource("scripted://one") for _ in range(2)]
            except RequestFailed as failed:
                return failed
            return [each["contents"][0]["text"] for each in read]

    return run(script)


def test_a_resource_is_read_through_its_rounds_and_kept_nowhere(server):
    def answer(connection, request):
        connection.answer(request, READ if "requestState" in request.params else question("s1"))

    server.acts("resources/read", answer, times=float("inf"))
    assert read_of(server, on_input=yes) == ["here", "here"]
    states = [frame.params.get("requestState") for frame in server.ledger.frames("resources/read")]
    assert states == [None, "s1", None, "s1"]


def test_a_resource_that_nobody_can_answer_for_is_a_failed_read(server):
    server.gives("resources/read", question("s1"))
    assert "nobody is there to give it" in str(read_of(server))


def test_a_resource_of_a_handshake_server_is_one_request():
    server = ScriptedServer()
    server.gives("resources/read", READ)

    async def script():
        async with ReferenceClient(server.dial().streams) as client:
            return await client.read_resource("scripted://one")

    assert run(script) == READ
    assert len(server.ledger.frames("resources/read")) == 1
