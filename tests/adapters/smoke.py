"""What each verb of a bundled adapter does on the real package: one short play for each.

A test file of one adapter is four lines:

    @smoke("acme")
    def test_a_verb_does_what_it_says(play):
        play()
"""

from __future__ import annotations

from functools import partial

import pytest

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import ERAS, eras_over, ways_of
from pytest_mcp_conformance.scenarios._judge import NotClaimed
from pytest_mcp_conformance.scenarios._run import run_scenario
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.scenarios._together import call_all, left_open, two_servers
from pytest_mcp_conformance.scenarios._together import together as in_one_object
from pytest_mcp_conformance.server import V1, V2

__all__ = ["smoke"]

URI = "scripted://one"


async def lists_and_calls(server, connect):
    server.has_tools(*V1)
    server.answers("a", 7)
    async with connect(server) as wrapper:
        assert await wrapper.names() == ["a", "old"]
        outcome = await wrapper.call("a", "n1")
        assert outcome.ok, outcome
        assert outcome.shows(7), outcome
        assert len(server.ledger.calls("n1")) == 1


async def refused_call_is_seen_as_one(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.fails("tools/call")
        assert not (await wrapper.call("old", "n1")).ok
        server.answers("old", text="no", bare=True, is_error=True)
        assert not (await wrapper.call("old", "n2")).ok


async def result_that_breaks_its_schema_is_refused(server, connect):
    if not connect.claims.makes("checks_output"):
        raise NotClaimed("checks_output")
    server.has_tools(*V1)
    server.answers("a", "seven")
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        assert not (await wrapper.call("a", "n1")).ok


async def tear_down_closes(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
    assert await server.left_open() == []


async def close(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await wrapper.verb("close")
        assert await server.left_open() == []


async def way_out_of_the_cache(server, connect, verb):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        await wrapper.verb(verb)
        assert await wrapper.names() == ["a", "new"]


async def reconnect(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        await wrapper.verb("reconnect")
        assert (await wrapper.call("old", "n1")).ok
        assert wrapper.connections > before


async def kept_list(server, connect):
    if not connect.claims.makes("caches_listings"):
        raise NotClaimed("caches_listings")
    server.ttl_ms = 3_600_000
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        mark = server.ledger.mark
        assert await wrapper.names() == ["a", "old"]
        # a cache by the lifetime of a list has nothing to go by in the handshake era
        assert server.era == "handshake" or not server.ledger.listings(since=mark)


async def notice(server, connect):
    if not connect.claims.makes("reacts_to_list_changed"):
        raise NotClaimed("reacts_to_list_changed")
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        if await server.notify_list_changed():
            await wrapper.react()
            assert await wrapper.names() == ["a", "new"]


async def call_with(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        if not wrapper.has("call_with"):
            raise NotClaimed("call_with")
        await wrapper.list_tools()
        outcome = await wrapper.start_call_with("old", "n1", {"com.example/trace": 1}, None).result()
        assert outcome.ok, outcome
        [sent] = server.ledger.calls("n1")
        assert sent.params["_meta"]["com.example/trace"] == 1


async def call_within(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        if not wrapper.has("call_within"):
            raise NotClaimed("call_within")
        await wrapper.list_tools()
        with server.holding("tools/call"):
            assert not (await wrapper.start_call_within("old", "n1", 1.0).result()).ok
        assert (await wrapper.start_call_within("old", "n2", 30.0).result()).ok
        assert len(server.ledger.calls("n2")) == 1


async def list_page(server, connect):
    server.pages(["a"], ["b"])
    async with connect(server) as wrapper:
        tools, cursor = await wrapper.verb("list_page", None)
        assert [each.name for each in tools] == ["a"]
        tools, cursor = await wrapper.verb("list_page", cursor)
        assert [each.name for each in tools] == ["b"]
        assert cursor is None


async def bind(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        bound = await wrapper.verb("bind", "old")
        assert (await wrapper.call("old", "n1", handle=bound)).ok
        assert len(server.ledger.calls("n1")) == 1


async def read_resource(server, connect):
    server.has_tools(*V1)

    def answer(connection, request):
        contents = [{"uri": URI, "text": "read"}]
        connection.answer(
            request, {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        )

    server.acts("resources/read", answer)
    async with connect(server) as wrapper:
        assert "read" in str(await wrapper.verb("read_resource", URI))


async def set_principal(server, connect):
    server.has_tools(*V1)
    async with connect(server, "A") as wrapper:
        await wrapper.list_tools()
        await wrapper.verb("set_principal", connect.dial(server, "A", renewal=1))
        assert await wrapper.names() == ["a", "old"]


async def together(server, connect):
    one, two = two_servers(server)
    async with in_one_object(server, connect, (one, two)) as held:
        shown = await held.list_tools()
        assert len(shown) == 2
        assert all(await call_all(held, shown, "n"))
        assert len(one.ledger.calls()) == len(two.ledger.calls()) == 1
    assert await left_open((one, two)) == []


async def run(server, connect):
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        shown = await wrapper.verb("run", [("a", {"nonce": "n1"}), ("old", {"nonce": "n2"})])
        assert ["n1" in str(shown[0]), "n2" in str(shown[1]), len(shown)] == [True, True, 2], shown
        assert [len(server.ledger.calls(nonce)) for nonce in ("n1", "n2")] == [1, 1]


VERBS = (
    close,
    reconnect,
    call_with,
    call_within,
    list_page,
    bind,
    read_resource,
    set_principal,
    together,
    run,
)
PLAYS = {
    **{
        each.__name__: each
        for each in (
            lists_and_calls,
            refused_call_is_seen_as_one,
            result_that_breaks_its_schema_is_refused,
            tear_down_closes,
            kept_list,
            notice,
            *VERBS,
        )
    },
    **{verb: partial(way_out_of_the_cache, verb=verb) for verb in ("refresh", "invalidate")},
}


def smoke(name, faults=(), leave_out=()):
    """Parametrize a test with the plays of one bundled adapter, over each era and way in that it takes.

    The file is skipped where the package, or a release that the adapter works with, is not installed.

    Args:
        name: The adapter's.
        faults: Plays that come out otherwise, each with the reason: a fault of the wrapper's own.
        leave_out: Ways in that are not played.
    """
    known = dict(faults)
    if name not in bundled():
        pytest.skip(f"nothing is installed that the adapter {name} could drive", allow_module_level=True)
    adapter = bundled()[name]
    return pytest.mark.parametrize(
        "play",
        [
            pytest.param(
                partial(_play, adapter, play, era, way),
                id=f"{name_of_play}-{era}-{way}",
                marks=[pytest.mark.xfail(reason=known[name_of_play])] if name_of_play in known else [],
            )
            for name_of_play, play in PLAYS.items()
            for era in adapter.claims.eras or ERAS
            for way in ways_of(adapter)
            if way not in leave_out and era in eras_over(way)
        ],
    )


def _play(adapter, play, era, way):
    missing = []

    async def unless_a_verb_is_missing(server, connect):
        try:
            await play(server, connect)
        except NotClaimed as claim:
            missing.append(str(claim))

    scenario = Scenario("smoke", (), unless_a_verb_is_missing, "One verb.", frozenset(ERAS))
    run = run_scenario(scenario, adapter, era, way, "", {})
    if missing:
        pytest.skip(f"not claimed: {missing[0]}")
    assert not run.failed, run.failed
    assert not run.trouble, run.trouble
