"""Scenarios over an SDK that forgets: what a wrapper loses that leaves its checks to the SDK below.

`dial.session()` gives a double of the SDK in them. Who asks for streams alone brings an SDK of its own: he is
left out, unless what is seen on the wire and in his answers keeps the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_mcp_conformance.contract import HANDSHAKE, Rule
from pytest_mcp_conformance.contract.caching import OVERTAKEN_LISTING_IS_DISCARDED
from pytest_mcp_conformance.contract.checks import (
    FAILED_LIST_LEAVES_THE_CHECKS_ALONE,
    VANISHED_TOOL_IS_NEVER_UNCHECKED,
)
from pytest_mcp_conformance.contract.generations import (
    FAILED_LISTING_LEAVES_TOOLS_CHECKED,
    UNSEEN_LISTINGS_ARE_NO_COVERAGE,
)
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import says_changed
from pytest_mcp_conformance.scenarios.checks import UNCOMPILABLE
from pytest_mcp_conformance.server import NotReached, ScriptedServer, tool
from pytest_mcp_conformance.server.sdk_double import Forgetful

Z = tool("z", "integer")


@scenario(
    FAILED_LIST_LEAVES_THE_CHECKS_ALONE,
    FAILED_LISTING_LEAVES_TOOLS_CHECKED,
    variants=("in_the_sdk", "at_the_server"),
    eras=HANDSHAKE,
)
async def checks_lost_on_failed_list(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A tool is listed. The next listing fails: at the server, or in the SDK, its checks cleared."""
    connect.double = Forgetful()
    server.has_tools(Z)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("z")
        if how == "in_the_sdk":
            server.has_tools(tool("bad", UNCOMPILABLE["type"]), Z)
        else:
            server.fails("tools/list")
        mark = server.ledger.mark
        await wrapper.make_stale(may_fail=True)
        await wrapper.try_names()
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        good = await wrapper.call("z", "n1", handle=kept)
        server.answers("z", "wrong")
        wrong = await wrapper.call("z", "n2", handle=kept)
        with judged(connect, FAILED_LIST_LEAVES_THE_CHECKS_ALONE):
            assert not wrong.ok, f"a wrong answer, handed out as good: {wrong}"
        with judged(connect, FAILED_LISTING_LEAVES_TOOLS_CHECKED):
            assert good.ok, f"a good answer: {good}"
            assert not wrong.ok, f"a wrong answer, handed out as good: {wrong}"


@scenario(VANISHED_TOOL_IS_NEVER_UNCHECKED, eras=HANDSHAKE)
async def unseen_auto_refresh(server: ScriptedServer, connect: Connect) -> None:
    """A tool is listed. A notice comes, the SDK lists by itself: the tool is gone, and its check with it."""
    connect.double = Forgetful(auto_refresh=True)
    server.has_tools(Z)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("z")
        server.has_tools("other")
        server.answers("z", "wrong")
        mark = server.ledger.mark
        heard = await server.notify_list_changed()
        if not heard and connect.claims.makes("dials_per_operation"):
            leave_out(VANISHED_TOOL_IS_NEVER_UNCHECKED, "dials_per_operation: nobody is there to hear of it")
            return
        must_have_a_channel(server, heard)
        reached(
            not connect.took_session or server.ledger.listings(since=mark), "the SDK did not list by itself"
        )
        outcome = await wrapper.call("z", "n1", handle=kept)
        with judged(connect, VANISHED_TOOL_IS_NEVER_UNCHECKED):
            assert not outcome.ok, f"a wrong answer, handed out as good: {outcome}"


@scenario(OVERTAKEN_LISTING_IS_DISCARDED, VANISHED_TOOL_IS_NEVER_UNCHECKED, eras=HANDSHAKE)
async def listing_in_flight_discarded_after_invalidation(server: ScriptedServer, connect: Connect) -> None:
    """A listing without the tool is out when it comes back; its answer has the SDK forget the tool."""
    connect.double = Forgetful()
    server.has_tools(Z)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("z")
        server.has_tools("doomed")
        with server.holding("tools/list") as gate:
            await says_changed(server, wrapper, connect)
            await wrapper.react()
            listing = wrapper.start_listing()  # of its own, or served while one is out that the notice began
            late = await gate.arrived()
            server.has_tools(Z, "new")
            server.answers("z", "wrong")
            await says_changed(server, wrapper, connect)
            late.release()
            await server.settle()
            call = wrapper.start_call("z", "n1", handle=kept)  # the listing that follows is held as well
            await server.settle()
        await listing.ended()
        outcome = await call.result()
        await wrapper.react()
        with judged(connect, OVERTAKEN_LISTING_IS_DISCARDED):
            assert await wrapper.names() == ["new", "z"], "served from a listing that began before the change"
        with judged(connect, VANISHED_TOOL_IS_NEVER_UNCHECKED):
            assert not outcome.ok, f"a wrong answer, handed out as good: {outcome}"


@scenario(UNSEEN_LISTINGS_ARE_NO_COVERAGE, eras=HANDSHAKE)
async def request_past_the_wrapper_is_not_counted(server: ScriptedServer, connect: Connect) -> None:
    """A listing is counted. The SDK lists by itself, past the count, and a tool loses its check unnoticed."""
    server.has_tools(Z)
    async with connect(server) as wrapper:
        listings_of = wrapper.part("listings_of")
        async with server.dial().session(double=Forgetful(auto_refresh=True)) as session:
            count = listings_of(session)
            settled = await count.ask(session.list_tools)
            reached(count.is_latest(settled.generation), "the count took no listing")
            server.has_tools("other")
            server.answers("z", "wrong")
            mark = server.ledger.mark
            await server.notify_list_changed(connections=server.connections[-1:])
            reached(server.ledger.listings(since=mark), "the SDK did not list by itself")
            unjudged = await session.call_tool("z", {"nonce": "n1"})
            reached(unjudged is not None, "the SDK still held its check")
            with check(UNSEEN_LISTINGS_ARE_NO_COVERAGE):
                named = str(getattr(count, "unseen", "")).strip()
                assert named or not count.is_latest(settled.generation), (
                    "the count says that the SDK holds the checks, and names no limit"
                )


@contextmanager
def judged(connect: Connect, rule: Rule) -> Iterator[None]:
    """Check `rule` of who asked for a session; who never did is left out where it does not hold."""
    if connect.took_session:
        with check(rule):
            yield
        return
    try:
        yield
    except (AssertionError, VerbFailed, NotReached):
        leave_out(rule, "it takes streams: the SDK that forgets is what dial.session() gives")
    else:
        with check(rule):
            pass
