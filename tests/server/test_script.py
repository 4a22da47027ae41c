"""The scripted server, spoken to in plain dicts."""

from __future__ import annotations

import asyncio

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.server import ABSENT, NotReached, ScriptedServer, tool

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Client:
    """One connection, spoken to by hand."""

    def __init__(self, server, principal=None):
        self.heard = []
        self.connection = server.open(self._hear, principal=principal, headers={})
        self._ids = iter(range(1, 10_000))

    def _hear(self, message, related):
        self.heard.append(message)

    def ask(self, method, params=None):
        self.connection.receive(
            {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params or {}}
        )
        return self.heard[-1] if self.heard else None

    def tell(self, method, params=None):
        self.connection.receive({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def hand_shake(self):
        self.ask("initialize", {"protocolVersion": "2025-11-25"})
        self.tell("notifications/initialized")
        return self


@pytest.fixture
def server():
    return ScriptedServer()


@pytest.fixture
def modern():
    return ScriptedServer("modern")


def test_an_unknown_era_is_refused():
    with pytest.raises(UsageError, match="unknown era 'futuristic': a server speaks handshake or modern"):
        ScriptedServer("futuristic")


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("2099-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
def test_the_handshake_gives_the_version_asked_for_or_the_newest(server, asked, given):
    answer = Client(server).ask("initialize", {"protocolVersion": asked})
    assert answer["result"]["protocolVersion"] == given


def test_older_versions_are_spoken_on_request(server):
    server.versions = ("2025-03-26",)
    assert (
        Client(server).ask("initialize", {"protocolVersion": "2025-11-25"})["result"]["protocolVersion"]
        == "2025-03-26"
    )


def test_each_era_refuses_the_handshake_of_the_other(server, modern):
    assert Client(server).ask("server/discover")["error"]["code"] == -32601
    refused = Client(modern).ask("initialize", {"protocolVersion": "2025-11-25"})["error"]
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_odd_requests_are_tolerated(server):
    client = Client(server)
    assert client.ask("ping")["result"] == {}
    assert client.ask("no/such/method")["error"]["code"] == -32601
    client.tell("notifications/no_such_notice")
    client.connection.receive({"jsonrpc": "2.0", "id": 99, "result": {}})
    assert [event.kind for event in server.ledger] == [
        "opened", "asked", "answered", "asked", "failed", "told", "replied",
    ]  # fmt: skip


def test_pages_are_walked_by_cursors_of_any_text(server):
    server.pages(["a"], ["b"], ["c"], cursors=["", "null"])
    client = Client(server)
    assert client.ask("tools/list")["result"]["nextCursor"] == ""
    second = client.ask("tools/list", {"cursor": ""})["result"]
    assert ([entry["name"] for entry in second["tools"]], second["nextCursor"]) == (["b"], "null")
    assert "nextCursor" not in client.ask("tools/list", {"cursor": "null"})["result"]
    assert client.ask("tools/list", {"cursor": "never given"})["error"]["code"] == -32602


def test_modern_results_are_stamped_and_handshake_results_are_not(server, modern):
    for each in (server, modern):
        each.has_tools("a")
    plain = Client(server).ask("tools/list")["result"]
    assert set(plain) == {"tools"}
    stamped = Client(modern).ask("tools/list", {"_meta": MODERN})["result"]
    assert (stamped["resultType"], stamped["ttlMs"], stamped["cacheScope"]) == ("complete", 0, "private")
    modern.ttl_ms, modern.cache_scope = ABSENT, "team"
    stamped = Client(modern).ask("tools/list", {"_meta": MODERN})["result"]
    assert ("ttlMs" in stamped, stamped["cacheScope"]) == (False, "team")


def test_each_page_may_have_a_lifetime_of_its_own(modern):
    modern.pages(["a"], ["b"])
    modern.ttl_ms = lambda cursor: 1000 if cursor is ABSENT else ABSENT
    client = Client(modern)
    assert client.ask("tools/list", {"_meta": MODERN})["result"]["ttlMs"] == 1000
    assert "ttlMs" not in client.ask("tools/list", {"_meta": MODERN, "cursor": "c2"})["result"]


def test_a_call_is_answered_by_what_the_schema_asks_for(server):
    server.has_tools(tool("a", "integer"), "plain")
    client = Client(server)
    answer = client.ask("tools/call", {"name": "a", "arguments": {"nonce": "n1"}})["result"]
    assert (answer["structuredContent"], answer["isError"]) == ({"nonce": "n1", "out": 1}, False)
    assert "structuredContent" not in client.ask("tools/call", {"name": "plain"})["result"]
    assert client.ask("tools/call", {"name": "unknown"})["error"]["code"] == -32602


def test_a_result_may_carry_meta():
    server = ScriptedServer()
    server.has_tools("a")
    server.answers("a", meta={"cost": 2})
    client = Client(server).hand_shake()
    assert client.ask("tools/call", {"name": "a"})["result"]["_meta"] == {"cost": 2}


def test_answers_are_scripted_by_value_by_shape_and_by_failure(server):
    server.has_tools(tool("a", "integer"))
    client = Client(server)
    server.answers("a", "bad")
    assert client.ask("tools/call", {"name": "a"})["result"]["structuredContent"]["out"] == "bad"
    server.answers("a", bare=True, text="fine")
    assert "structuredContent" not in client.ask("tools/call", {"name": "a"})["result"]
    server.answers("a", is_error=True, text="bad date")
    failed = client.ask("tools/call", {"name": "a"})["result"]
    assert (failed["isError"], failed["content"][0]["text"]) == (True, "bad date")
    server.answers("a", structured=None)
    assert client.ask("tools/call", {"name": "a"})["result"]["structuredContent"] is None


def test_tools_may_differ_by_principal(server):
    server.has_tools("everybodys")
    server.has_tools("of_a", principal="A")
    names = {
        who: [entry["name"] for entry in Client(server, who).ask("tools/list")["result"]["tools"]]
        for who in ("A", "B", None)
    }
    assert names == {"A": ["of_a"], "B": ["everybodys"], None: ["everybodys"]}


def test_failures_are_played_as_often_as_scripted_and_forgotten_on_recovery(server):
    server.has_tools("a")
    client = Client(server)
    server.fails("tools/list", -32000, "no", times=2)
    assert [("error" in client.ask("tools/list")) for _ in range(3)] == [True, True, False]
    server.fails("tools/list", times=float("inf"), when=lambda request: "cursor" in request.params)
    assert "result" in client.ask("tools/list")
    assert "error" in client.ask("tools/list", {"cursor": "x"})
    server.recovers()
    assert client.ask("tools/list", {"cursor": "x"})["error"]["code"] == -32602
    server.gives("tools/list", {"tools": "nonsense"})
    assert client.ask("tools/list")["result"] == {"tools": "nonsense"}


def test_a_drop_hangs_up_and_what_comes_later_is_nothing(server):
    server.has_tools("a")
    client = Client(server)
    server.drops_on("tools/list")
    client.ask("tools/list")
    assert client.heard == [None]
    assert server.ledger.open_connections() == []
    before = len(server.history)
    client.ask("tools/list")
    client.connection.closed_by_client()
    assert len(server.history) == before


def test_a_server_that_refuses_lets_nobody_in(server):
    server.refusing = True
    with pytest.raises(ConnectionRefusedError):
        Client(server)
    server.recovers()
    Client(server)


def test_a_held_answer_is_frozen_when_its_request_arrives(server):
    server.has_tools("old")
    client = Client(server)
    with server.holding("tools/list") as gate:
        client.ask("tools/list")
        server.has_tools("new")
        client.ask("tools/list")
        assert client.heard == []
        gate.held[1].release()
        gate.held[0].release()
        gate.held[0].release()
    assert [message["result"]["tools"][0]["name"] for message in client.heard] == ["new", "old"]
    assert client.ask("tools/list")["result"]["tools"][0]["name"] == "new"


def test_a_gate_holds_what_it_is_told_to_and_lets_go_at_its_end(server):
    server.has_tools("a")
    client = Client(server)
    with server.holding("tools/call", when=lambda request: request.arguments.get("nonce") == "slow") as gate:
        for nonce in ("slow", "fast"):
            client.ask("tools/call", {"name": "a", "arguments": {"nonce": nonce}})
        assert [message["id"] for message in client.heard] == [2]
        gate.open()
        client.ask("tools/call", {"name": "a", "arguments": {"nonce": "slow"}})
        assert len(client.heard) == 2
    assert [message["id"] for message in client.heard] == [2, 3, 1]


def test_a_held_call_is_found_by_its_nonce_whenever_it_arrived(server):
    client = Client(server)
    server.has_tools("a")
    with server.holding("tools/call") as gate:
        for nonce in ("n2", "n1"):
            client.ask("tools/call", {"name": "a", "arguments": {"nonce": nonce}})
        assert [gate.call(nonce).request.id for nonce in ("n1", "n2")] == [2, 1]
        with pytest.raises(NotReached, match="the call n3 did not arrive"):
            gate.call("n3")


def test_a_held_request_may_fail_or_be_answered_otherwise_or_never(server):
    client = Client(server)
    with server.holding("tools/list") as gate:
        for _ in range(3):
            client.ask("tools/list")
        failing, odd, never = gate.held
        failing.fail(-1, "no")
        odd.answer({"tools": None})
        never.drop()
        assert not any(held.waiting for held in gate.held)
    assert [message.get("result") or message["error"]["code"] for message in client.heard] == [
        -1,
        {"tools": None},
    ]


def test_notices_of_the_handshake_era_wait_for_its_end(server):
    early = Client(server)
    run(server.notify_list_changed)
    assert early.heard == []
    early.hand_shake()
    assert run(server.notify_list_changed) == 1
    assert early.heard[-1] == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def test_notices_of_the_modern_era_go_to_streams_that_asked_and_are_stamped(modern):
    listening, deaf = Client(modern), Client(modern)
    listening.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    acknowledged = listening.heard[-1]
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"] == {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION: 1}}
    deaf.ask("subscriptions/listen", {"notifications": {"promptsListChanged": True}})
    assert run(modern.notify_list_changed) == 1
    assert listening.heard[-1]["params"]["_meta"] == {SUBSCRIPTION: 1}


def test_a_subscription_is_granted_only_what_the_script_grants(modern):
    modern.grants = set()
    client = Client(modern)
    client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert client.heard[-1]["params"]["notifications"] == {}
    assert run(modern.notify_list_changed) == 0


def test_a_held_acknowledgement_holds_the_notices_back(modern):
    client = Client(modern)
    with modern.holding("subscriptions/listen"):
        client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        assert run(modern.notify_list_changed) == 0
    assert run(modern.notify_list_changed) == 1


@pytest.mark.parametrize("how", ["result", "cancelled", "error"])
def test_a_subscription_ends_in_three_ways(modern, how):
    client = Client(modern)
    client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert modern.end_subscriptions(how) == 1
    last = client.heard[-1]
    seen = (
        "cancelled"
        if last.get("method") == "notifications/cancelled"
        else next(k for k in ("result", "error") if k in last)
    )
    assert seen == how
    assert run(modern.notify_list_changed) == 0


def test_a_subscription_that_the_client_cancels_is_over(modern):
    client = Client(modern)
    client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    client.tell("notifications/cancelled", {"requestId": 1})
    assert run(modern.notify_list_changed) == 0


def test_the_ledger_is_asked_by_method_connection_principal_and_place(server):
    server.has_tools("a")
    first, second = Client(server, "A"), Client(server, "B")
    first.ask("tools/list")
    mark = server.ledger.mark
    second.ask("tools/list")
    second.ask("tools/call", {"name": "a", "arguments": {"nonce": "n"}})
    assert len(server.ledger.listings()) == 2
    assert [frame.connection for frame in server.ledger.listings(since=mark)] == [second.connection.number]
    assert [frame.principal for frame in server.ledger.frames("tools/list", principal="A")] == ["A"]
    assert len(server.ledger.calls("n")) == 1
    assert server.ledger.calls("other") == []


def test_two_servers_of_one_history_keep_their_frames_apart(server):
    other = server.another()
    Client(server).ask("ping")
    Client(other).ask("ping")
    assert [frame.connection for frame in server.ledger.frames("ping")] == [1]
    assert [frame.connection for frame in other.ledger.frames("ping")] == [2]
    assert len([event for event in server.history if event.method == "ping" and event.kind == "asked"]) == 2


def test_a_wait_in_vain_ends_at_its_deadline_and_says_what_was_seen(server):
    async def wait():
        Client(server).ask("ping")
        with server.holding("tools/list") as gate:
            await gate.arrived(deadline=30.0)

    with pytest.raises(
        NotReached, match=r"tools/list at the server: not seen within 30 s; the wire showed #1 opened"
    ):
        run(wait)


def test_a_wait_ends_with_the_event_that_it_waits_for(server):
    async def wait():
        client = Client(server)
        with server.holding("tools/list") as gate:
            asyncio.get_running_loop().call_later(5, client.ask, "tools/list")
            held = await gate.arrived()
        return held.request.method, asyncio.get_running_loop().time()

    assert run(wait) == ("tools/list", 5.0)


def test_what_is_kept_of_a_frame_is_a_copy(server):
    client = Client(server)
    params = {"protocolVersion": "2025-11-25"}
    client.ask("initialize", params)
    params["protocolVersion"] = "edited"
    client.heard[-1]["result"]["serverInfo"]["name"] = "edited"
    asked, answered = server.ledger.frames("initialize", kind=("asked", "answered"))
    assert asked.params["protocolVersion"] == "2025-11-25"
    assert answered.message["result"]["serverInfo"]["name"] == "scripted"
