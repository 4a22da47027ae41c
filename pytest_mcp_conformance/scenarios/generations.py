"""Scenarios of LST: the count of list requests, and who checks a call while the SDK's checks are not its own.

LST-1 to LST-10, 16, 17 and 20 look at the count itself (`generations`, `listings_of`). LST-11 to LST-15, 18
and 19 are about what comes of it, and are played through the wrapper's own verbs: whether it counts, or
checks by itself in any case, is its own affair.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract.generations import (
    ANSWER_COMES_WITH_ITS_OWN_GENERATION,
    CACHE_HIT_IS_NOT_FRESHER,
    CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION,
    CHECK_IS_CHOSEN_BEFORE_THE_SEND,
    CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED,
    COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT,
    EACH_SETTLED_LISTING_STARTS_ONE_GENERATION,
    EARLIER_LISTING_STILL_OUT_COUNTS,
    FAILED_LISTING_LEAVES_TOOLS_CHECKED,
    FAILURE_COMES_OUT_AS_IT_WAS_RAISED,
    GENERATIONS_FOLLOW_THE_ORDER_OF_SETTLING,
    LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT,
    LISTING_IS_OUT_FROM_ITS_SENDING,
    NOTHING_SETTLED_IS_NOT_THE_LATEST,
    ONE_COUNT_FOR_ONE_CLIENT,
    SAME_FAULT_GIVES_THE_SAME_ERROR,
    SEND_THAT_RAISES_AT_ONCE_SETTLES,
    TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED,
    UNSEEN_LISTINGS_ARE_NO_COVERAGE,
    WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer, tool

UNCOMPILABLE: dict[str, Any] = {"type": "object", "properties": {"out": {"type": "nonsense"}}}


class Sent:
    """One list request over no wire at all, which the scenario settles by hand.

    Args:
        count: What counts it.
        leaving: Called when it is sent, before its first wait.
    """

    def __init__(self, count: Any, leaving: Callable[[], None] = lambda: None) -> None:
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked = Pending(count.ask(self.send), "ask")
        self._leaving = leaving

    async def send(self) -> Any:
        """What is counted."""
        self._leaving()
        return await self.answer


async def good(count: Any) -> int:
    """A listing that is sent and answered at once; gives its generation."""
    one = Sent(count)
    one.answer.set_result("listed")
    generation: int = (await one.asked.result()).generation
    return generation


@scenario(LISTING_IS_OUT_FROM_ITS_SENDING, NOTHING_SETTLED_IS_NOT_THE_LATEST, eras=HANDSHAKE)
async def listing_counted_from_its_sending(server: ScriptedServer, connect: Connect) -> None:
    """A new count; one listing settles; a second one is sent, and is out from that very moment."""
    seen = []

    async with connect(server) as wrapper:
        count = wrapper.part("generations")()
        with check(NOTHING_SETTLED_IS_NOT_THE_LATEST):
            assert [each for each in (0, 1, -1) if count.is_latest(each)] == []
        first = await good(count)
        reached(count.is_latest(first), "a listing that settled with none out is not the latest")
        second = Sent(count, lambda: seen.append(count.is_latest(first)))
        await server.settle()
        reached(seen, "the second listing was not sent")
        with check(LISTING_IS_OUT_FROM_ITS_SENDING):
            assert seen == [False], (
                "as the request was being sent, the listing before it was still the latest"
            )
            assert not count.is_latest(first), "while the request waits for its answer"
        second.answer.set_result("listed")
        await second.asked.ended()


@scenario(
    LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT,
    EARLIER_LISTING_STILL_OUT_COUNTS,
    ANSWER_COMES_WITH_ITS_OWN_GENERATION,
    GENERATIONS_FOLLOW_THE_ORDER_OF_SETTLING,
    eras=HANDSHAKE,
)
async def listings_answered_in_reverse(server: ScriptedServer, connect: Connect) -> None:
    """Of three listings that are out at once, the last one sent settles first, and the first one last."""
    async with connect(server) as wrapper:
        count = wrapper.part("generations")()
        before = await good(count)
        sent = [Sent(count) for _ in range(3)]
        await server.settle()
        settled: list[Any] = []
        for out, each in ((2, sent[2]), (1, sent[1]), (0, sent[0])):
            each.answer.set_result(f"answer with {out} out")
            settled.append(await each.asked.result())
            with check(
                EARLIER_LISTING_STILL_OUT_COUNTS if out == 1 else LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT
            ):
                latest = count.is_latest(settled[-1].generation)
                assert latest is (out == 0), f"the newest, with {out} out: latest is {latest}"
        numbers = [each.generation for each in settled]
        with check(EARLIER_LISTING_STILL_OUT_COUNTS):
            reached(len(settled) == 3, "the listings did not settle")
        with check(LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT):
            assert [each for each in (before, *numbers[:2], numbers[2] + 1) if count.is_latest(each)] == []
        with check(ANSWER_COMES_WITH_ITS_OWN_GENERATION):
            assert [each.answer for each in settled] == [f"answer with {out} out" for out in (2, 1, 0)]
            assert len({before, *numbers}) == 4, f"one generation twice: {[before, *numbers]}"
        with check(GENERATIONS_FOLLOW_THE_ORDER_OF_SETTLING):
            assert [before, *numbers] == sorted([before, *numbers])
            assert count.is_latest(numbers[2]), "sent first, settled last"


@scenario(ANSWER_COMES_WITH_ITS_OWN_GENERATION, eras=HANDSHAKE)
async def listings_that_settle_in_one_turn(server: ScriptedServer, connect: Connect) -> None:
    """Two listings are answered in the same turn of the loop."""
    async with connect(server) as wrapper:
        count = wrapper.part("generations")()
        sent = [Sent(count) for _ in range(2)]
        await server.settle()
        for each in sent:
            each.answer.set_result("listed")
        numbers = [(await each.asked.result()).generation for each in sent]
        with check(ANSWER_COMES_WITH_ITS_OWN_GENERATION):
            assert numbers[0] < numbers[1], f"two answers, in the order of settling, at {numbers}"


HOW = ("answer", "error", "cancelled", "limit")


@scenario(
    EACH_SETTLED_LISTING_STARTS_ONE_GENERATION,
    FAILURE_COMES_OUT_AS_IT_WAS_RAISED,
    eras=HANDSHAKE,
    variants=HOW,
)
async def every_way_to_settle(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Between two good listings one settles by an answer, an error, a cancellation, or a limit."""
    fault = ValueError("malformed")

    async with connect(server) as wrapper:
        count = wrapper.part("generations")()
        before = await good(count)
        one = Sent(count)
        await server.settle()
        if how == "cancelled":
            await one.asked.cancel()
        elif how == "limit":
            fault = ValueError(await _out_of_time(count))
            await one.asked.cancel()
        else:
            one.answer.set_result("x") if how == "answer" else one.answer.set_exception(fault)
            await one.asked.ended()
        with check(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION):
            assert await good(count) - before == (3 if how == "limit" else 2)
        with check(FAILURE_COMES_OUT_AS_IT_WAS_RAISED):
            error = one.asked.error
            if how == "error":
                assert error is fault, f"raised was {fault!r}, and what came out is {error!r}"
            else:
                assert isinstance(error, asyncio.CancelledError) or how == "answer", f"came out as {error!r}"
            assert how != "limit" or str(fault) == "TimeoutError"


SETTLES = {"refused": "error", "malformed": "malformed", "lost": "hangs_up"}
"""The fault by which a listing settles."""


@scenario(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION, eras=HANDSHAKE, variants=(*SETTLES, "many"))
async def listings_that_settle_on_the_wire(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A real session lists: it is refused, answered with nonsense, or lost; or five go well at once."""
    server.has_tools(*V1)

    async with connect(server) as wrapper, server.dial().session() as session:
        count = wrapper.part("generations")()
        before = (await count.ask(session.list_tools)).generation
        if how in SETTLES:
            server.suffers(SETTLES[how], "list")
        asked = [Pending(count.ask(session.list_tools), "ask") for _ in range(5 if how == "many" else 1)]
        for each in asked:
            await each.ended()
        reached((asked[0].error is None) is (how == "many"), "the listing did not settle as it should")
        with check(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION):
            assert await good(count) - before == len(asked) + 1


async def _out_of_time(count: Any) -> str:
    """What comes of a listing that a limit ends."""
    try:
        await asyncio.wait_for(count.ask(asyncio.Event().wait), 5.0)
    except Exception as error:
        return "TimeoutError" if isinstance(error, asyncio.TimeoutError) else repr(error)
    return "nothing"


@scenario(SEND_THAT_RAISES_AT_ONCE_SETTLES, eras=HANDSHAKE)
async def send_that_raises_at_once(server: ScriptedServer, connect: Connect) -> None:
    """The send raises as it is called, without a request; then a listing goes well."""

    def closed() -> Any:
        raise ConnectionError("the transport is closed")

    async with connect(server) as wrapper:
        count = wrapper.part("generations")()
        before = await good(count)
        failed = Pending(count.ask(closed), "ask")
        await failed.ended()
        reached(isinstance(failed.error, Exception), "the send did not raise")
        with check(SEND_THAT_RAISES_AT_ONCE_SETTLES):
            assert not count.is_latest(before), "it settled, and the one before is the latest all the same"
            assert count.is_latest(await good(count)), "something is out for ever"


class Twin:
    """Equal to every other one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Twin)

    def __hash__(self) -> int:
        return 1


@scenario(ONE_COUNT_FOR_ONE_CLIENT, COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT, eras=HANDSHAKE)
async def counts_of_clients(server: ScriptedServer, connect: Connect) -> None:
    """Two wrappers over one SDK session, a second session on the same server, and clients that go."""
    server.has_tools(*V1)

    async with connect(server) as wrapper, server.dial().session() as one, server.dial().session() as other:
        listings_of = wrapper.part("listings_of")
        settled = await listings_of(one).ask(one.list_tools)
        reached(len(server.ledger.listings()) == 1, "no listing reached the server")
        with check(ONE_COUNT_FOR_ONE_CLIENT):
            assert listings_of(one).is_latest(settled.generation), "another wrapper over the same client"
            assert not listings_of(other).is_latest(settled.generation), "another client of the same server"
            await listings_of(other).ask(other.list_tools)
            await listings_of(one).ask(one.list_tools)
            assert not listings_of(one).is_latest(settled.generation), "listed by another wrapper since"
        with check(COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT):
            await _clients_that_go(listings_of)


async def _clients_that_go(listings_of: Any) -> None:
    twins = [Twin(), Twin()]
    generation = await good(listings_of(twins[0]))
    assert not listings_of(twins[1]).is_latest(generation), "found by equality, not by identity"
    count, gone = _watched(listings_of(twins[0])), weakref.ref(twins.pop(0))
    gc.collect()
    assert gone() is None, "the count keeps its client alive"
    assert count() is None, "the count outlives its client"
    found = []
    for _ in range(64):
        twin = Twin()
        found += [each for each in range(1, 4) if listings_of(twin).is_latest(each)]
        await good(listings_of(twin))
        del twin
    assert not found, "a new client found the count of a dead one"


def _watched(count: Any) -> Callable[[], Any]:
    """Gives the count while it lives; nothing where that cannot be seen."""
    try:
        return weakref.ref(count)
    except TypeError:
        return lambda: None


@scenario(UNSEEN_LISTINGS_ARE_NO_COVERAGE, eras=HANDSHAKE)
async def listing_past_the_count(server: ScriptedServer, connect: Connect) -> None:
    """A listing is counted; then the host lists on the same session, past the count."""
    server.has_tools(*V1)

    async with connect(server) as wrapper, server.dial().session() as session:
        count = wrapper.part("listings_of")(session)
        settled = await count.ask(session.list_tools)
        mark = server.ledger.mark
        await session.list_tools()
        reached(server.ledger.listings(since=mark), "the host's listing did not reach the server")
        with check(UNSEEN_LISTINGS_ARE_NO_COVERAGE):
            named = getattr(count, "unseen", "")
            assert not count.is_latest(settled.generation) or named, "not counted, and not named as a limit"


@scenario(CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION, eras=HANDSHAKE)
async def answer_after_the_cancellation(server: ScriptedServer, connect: Connect) -> None:
    """A listing on a real session is cancelled; its answer comes later; then a listing goes well.

    The same with the wrapper's own listing: what comes late is not what it serves.
    """
    server.has_tools(*V1)

    async with connect(server) as wrapper, server.dial().session() as session:
        count = wrapper.part("listings_of")(session)
        before = await count.ask(session.list_tools)
        with server.holding("tools/list") as gate:
            cancelled = Pending(count.ask(session.list_tools), "ask")
            counted = await gate.arrived()
            await cancelled.cancel()
            listing = wrapper.start_listing()
            late = await gate.arrived(2)
            await listing.cancel()
            gate.open()
            after = await count.ask(session.list_tools)
            with check(CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION):
                assert after.generation - before.generation == 2, "one for the cancellation, one for the last"
                assert count.is_latest(after.generation), "the cancelled one is still out"
            server.has_tools(*V2)
            for each in (counted, late):
                each.release()
            await server.settle()
        with check(CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION):
            assert count.is_latest(after.generation), "the late answer started a generation"
            assert await wrapper.names() == ["a", "new"], "a listing that was cancelled is served"


@scenario(WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT, variants=("out", "again", "without_it"))
async def call_whose_listing_is_not_the_latest(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A listing is out, or a later one has settled, with the tool or without it; the tool answers wrongly.

    Once the field that it promised is of another type, once there is no structured content at all. A wrapper
    may refuse the call before it is sent.
    """
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("a")
        with server.holding("tools/list") as gate:
            if how == "without_it":
                server.has_tools("other")
            asked = wrapper.start("refresh") if wrapper.has("refresh") else wrapper.start_listing()
            reached(await _arrives(gate, server), "no further listing was asked for")
            if how != "out":
                gate.open()
                gate.release_all()
                await asked.ended()
            with check(WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT):
                server.answers("a", "bad")
                outcome = await wrapper.call("a", "n1", handle=kept)
                assert not outcome.ok, f"handed out as good: {outcome}"
                server.answers("a", bare=True, text="all went well")
                outcome = await wrapper.call("a", "n2", handle=kept)
                assert not outcome.ok, f"without structured content, handed out as good: {outcome}"
        await asked.ended()


async def _arrives(gate: Any, server: ScriptedServer) -> bool:
    await server.settle()
    return bool(gate.held)


@scenario(SAME_FAULT_GIVES_THE_SAME_ERROR)
async def one_fault_in_three_states(server: ScriptedServer, connect: Connect) -> None:
    """A tool answers wrongly while its listing is the latest, while another is out, and after that one."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcomes = [await wrapper.call("a", "n1")]
        with server.holding("tools/list") as gate:
            asked = wrapper.start("refresh") if wrapper.has("refresh") else wrapper.start_listing()
            reached(await _arrives(gate, server), "no further listing was asked for")
            outcomes.append(await wrapper.call("a", "n2"))
        await asked.ended()
        outcomes.append(await wrapper.call("a", "n3"))
        reached(len(server.ledger.calls()) == 3, "not every call was sent")
        with check(SAME_FAULT_GIVES_THE_SAME_ERROR):
            kinds = [(outcome.kind, type(outcome.error).__name__) for outcome in outcomes]
            assert len(set(kinds)) == 1, f"one fault, and {kinds}"


@scenario(FAILED_LISTING_LEAVES_TOOLS_CHECKED, variants=("error", "malformed", "uncompilable"))
async def call_after_a_failed_listing(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two tools are listed; the next listing fails, or holds an unusable schema; then one is called."""
    server.has_tools(tool("a", "integer"), tool("z", "integer"))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        mark = server.ledger.mark
        if how == "uncompilable":
            server.has_tools(tool("a", "integer"), tool("b", UNCOMPILABLE), tool("z", "integer"))
        else:
            server.suffers(how, "list")
        await wrapper.start("refresh").ended()
        reached(server.ledger.listings(since=mark), "no further listing was asked for")
        with check(FAILED_LISTING_LEAVES_TOOLS_CHECKED):
            outcome = await wrapper.call("z", "n1")
            assert outcome.ok, f"a good answer: {outcome}"
            server.answers("z", "bad")
            outcome = await wrapper.call("z", "n2")
            assert not outcome.ok, f"a wrong answer, handed out as good: {outcome}"


@scenario(TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED)
async def tool_of_the_first_page(server: ScriptedServer, connect: Connect) -> None:
    """Two tools on two pages; the one on the first page answers wrongly."""
    server.pages([tool("a", "integer")], [tool("b", "integer")])
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        if not wrapper.claims.follows_pages:
            leave_out(TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED, "follows_pages")
            return
        await wrapper.list_tools()
        reached(len(server.ledger.listings()) > 1, "the second page was not asked for")
        with check(TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED):
            outcome = await wrapper.call("a", "n1")
            assert not outcome.ok, f"handed out as good: {outcome}"


@scenario(CHECK_IS_CHOSEN_BEFORE_THE_SEND, variants=("changed", "gone"))
async def listing_settles_under_a_call(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Calls are out while a listing settles in which their tool is another, or missing; then answers come.

    One answer is good by the definition they were called by, the other is not.
    """
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            server.answers("a", 1)
            kept = wrapper.start_call("a", "good")
            await gate.arrived()
            server.answers("a", "bad")
            broken = wrapper.start_call("a", "bad")
            await gate.arrived(2)
            mark = server.ledger.mark
            server.has_tools(*(V2 if how == "changed" else ("other",)))
            await wrapper.verb("refresh")
            reached(server.ledger.listings(since=mark), "no listing settled under the calls")
        with check(CHECK_IS_CHOSEN_BEFORE_THE_SEND):
            outcome = await kept.result()
            assert outcome.ok, f"good by the definition it was called by: {outcome}"
            outcome = await broken.result()
            assert not outcome.ok, f"wrong by the definition it was called by, handed out as good: {outcome}"


@scenario(CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED)
async def notice_without_a_listing(server: ScriptedServer, connect: Connect) -> None:
    """The server says that its tools changed, nobody lists, and a tool answers wrongly."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        reached(await server.notify_list_changed(), "no channel on which a notice may be sent")
        await wrapper.react()
        with check(CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED):
            outcome = await wrapper.call("a", "n1")
            assert not outcome.ok, f"handed out as good: {outcome}"


@scenario(
    CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED, LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT, eras=HANDSHAKE
)
async def drop_that_the_count_is_told_of(server: ScriptedServer, connect: Connect) -> None:
    """A listing settles; the count is told that the SDK dropped its checks; then a listing settles again."""
    async with connect(server) as wrapper:
        count: Any = wrapper.part("generations")() if wrapper.has("generations") else None
        if not hasattr(count, "dropped"):
            for rule in (
                CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED,
                LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT,
            ):
                leave_out(rule, "its count cannot be told of a drop")
            return
        before = await good(count)
        count.dropped()
        with check(CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED):
            assert not count.is_latest(before), "the checks are gone, and the listing is the latest still"
        after = await good(count)
        with check(LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT):
            assert count.is_latest(after) and not count.is_latest(before)


@scenario(CACHE_HIT_IS_NOT_FRESHER)
async def cache_hit_after_a_newer_listing(server: ScriptedServer, connect: Connect) -> None:
    """A listing is kept, a refresh brings a newer one, a list costs no frame, and a tool is called."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        await wrapper.verb("refresh")
        mark = server.ledger.mark
        await wrapper.list_tools()
        if server.ledger.listings(since=mark):
            leave_out(CACHE_HIT_IS_NOT_FRESHER, "no listing was served from a cache here")
            return
        with check(CACHE_HIT_IS_NOT_FRESHER):
            outcome = await wrapper.call("a", "n1")
            assert outcome.ok, f"good by the newer listing: {outcome}"
            server.answers("a", 1)
            outcome = await wrapper.call("a", "n2")
            assert not outcome.ok, f"good by the older listing alone: {outcome}"
