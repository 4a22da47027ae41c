"""Wrong wrappers of LST."""

from __future__ import annotations

import asyncio
import weakref

from mcp_conformance_reference.calls import Caller, Plan
from mcp_conformance_reference.definitions import definition_of
from mcp_conformance_reference.errors import CallFailed, CheckFailed, ListFailed
from mcp_conformance_reference.generations import ListingGenerations, SettledListing
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.adapters._reference import WhiteBox
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
from tests.wrong._client import Client
from tests.wrong._wrong import breaks
from tests.wrong.checks import Absorbing, ByTheMap


def counting(kind):
    """The parts of a wrapper that counts by `kind`."""
    counts = {}

    def listings_of(client):
        if id(client) not in counts:
            counts[id(client)] = kind()
            weakref.finalize(client, counts.pop, id(client))
        return counts[id(client)]

    return WhiteBox(generations=kind, listings_of=listings_of)


def finding(make):
    """The parts of a wrapper that finds counts otherwise; `make` gives a new table each time."""
    return property(lambda client: WhiteBox(listings_of=make()))


@breaks(LISTING_IS_OUT_FROM_ITS_SENDING)
class OutOnceItIsSent(Client):
    """A request counts as out after the send has had its first wait."""

    class Count(ListingGenerations):
        async def ask(self, send):
            sending = asyncio.ensure_future(send())
            await asyncio.sleep(0)
            return await super().ask(lambda: sending)

    white_box = counting(Count)


@breaks(LISTING_IS_OUT_FROM_ITS_SENDING)
class OutOnceItIsAnswered(Client):
    """A request counts as out when its answer is there."""

    class Count(ListingGenerations):
        async def ask(self, send):
            answer = await send()

            async def there():
                return answer

            return await super().ask(there)

    white_box = counting(Count)


@breaks(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION)
class OnlyAnswersCount(Client):
    """A request that failed starts no generation."""

    class Count(ListingGenerations):
        async def ask(self, send):
            try:
                return await super().ask(send)
            except BaseException:
                self._settled -= 1
                raise

    white_box = counting(Count)


@breaks(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION)
class FailuresCountTwice(Client):
    """A failure is counted where it is caught, and where it ends."""

    class Count(ListingGenerations):
        async def ask(self, send):
            try:
                return await super().ask(send)
            except BaseException:
                self._settled += 1
                raise

    white_box = counting(Count)


@breaks(EACH_SETTLED_LISTING_STARTS_ONE_GENERATION)
class CancellationsAreNotCounted(Client):
    """Only an `Exception` is a failure."""

    class Count(ListingGenerations):
        async def ask(self, send):
            try:
                return await super().ask(send)
            except asyncio.CancelledError:
                self._settled -= 1
                raise

    white_box = counting(Count)


@breaks(LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT)
class WhatIsOutIsNotAsked(Client):
    """The latest is the one that settled last."""

    class Count(ListingGenerations):
        def is_latest(self, generation):
            return generation == self._settled and generation > 0

    white_box = counting(Count)


@breaks(LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT)
class AnyThatSettledIsTheLatest(Client):
    """Every generation that has settled is the latest while nothing is out."""

    class Count(ListingGenerations):
        def is_latest(self, generation):
            return self._out == 0 and 0 < generation <= self._settled

    white_box = counting(Count)


@breaks(EARLIER_LISTING_STILL_OUT_COUNTS)
class OutIsAFlag(Client):
    """Whether something is out is yes or no: the first that settles says no."""

    class Count(ListingGenerations):
        def _settle(self):
            generation = super()._settle()
            self._out = 0
            return generation

    white_box = counting(Count)


@breaks(EARLIER_LISTING_STILL_OUT_COUNTS)
class OnlyLaterRequestsCount(Client):
    """Only requests that were sent after the settled one are looked at."""

    class Count(ListingGenerations):
        def __init__(self):
            super().__init__()
            self.sent, self.open, self.of = 0, set(), {}

        async def ask(self, send):
            self.sent += 1
            mine = self.sent
            self.open.add(mine)
            try:
                settled = await super().ask(send)
            finally:
                self.open.discard(mine)
            self.of[settled.generation] = mine
            return settled

        def is_latest(self, generation):
            later = [each for each in self.open if each > self.of.get(generation, 0)]
            return generation == self._settled and generation > 0 and not later

    white_box = counting(Count)


def found_by(key):
    """Counts in a table, by whatever `key` says of a client."""

    def make():
        counts = {}
        return lambda client: counts.setdefault(key(client), ListingGenerations())

    return make


@breaks(ONE_COUNT_FOR_ONE_CLIENT)
class CountOfTheWrapper(Client):
    """Each wrapper has a count of its own."""

    white_box = finding(lambda: lambda client: ListingGenerations())


@breaks(ONE_COUNT_FOR_ONE_CLIENT)
class CountOfTheServer(Client):
    """The count is found by what the client calls itself."""

    white_box = finding(found_by(lambda client: type(client).__name__))


@breaks(COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT)
class CountOfAnAddress(Client):
    """The count is found by `id()`, and nobody sees that the client is gone."""

    white_box = finding(found_by(id))


def keeping():
    """Counts in a table that holds their clients as well."""
    counts = {}
    return lambda client: counts.setdefault(id(client), (ListingGenerations(), client))[0]


@breaks(COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT)
class CountKeepsItsClient(Client):
    """Whoever was counted once is kept."""

    white_box = finding(keeping)


def remembering():
    """Counts in a table from which nothing is taken out."""
    counts = {}

    def listings_of(client):
        held = counts.get(id(client))
        if held is None or held[0]() is not client:
            counts[id(client)] = held = (weakref.ref(client), ListingGenerations())
        return held[1]

    return listings_of


@breaks(COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT)
class CountsAreNeverForgotten(Client):
    """The table keeps the count of a client that is gone."""

    white_box = finding(remembering)


def comparing():
    """Counts in a table that compares clients by equality."""
    counts = weakref.WeakKeyDictionary()
    return lambda client: counts.setdefault(client, ListingGenerations())


@breaks(COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT)
class CountOfAnEqual(Client):
    """Clients are compared by equality."""

    white_box = finding(comparing)


@breaks(ANSWER_COMES_WITH_ITS_OWN_GENERATION)
class GenerationOfTheMoment(Client):
    """The number is read after one more wait."""

    class Count(ListingGenerations):
        async def ask(self, send):
            settled = await super().ask(send)
            await asyncio.sleep(0)
            return SettledListing(settled.answer, self._settled)

    white_box = counting(Count)


@breaks(FAILURE_COMES_OUT_AS_IT_WAS_RAISED)
class FailuresAreWrapped(Client):
    """A failure becomes an error of the library."""

    class Count(ListingGenerations):
        async def ask(self, send):
            try:
                return await super().ask(send)
            except Exception as error:
                raise RuntimeError("could not list") from error

    white_box = counting(Count)


@breaks(FAILURE_COMES_OUT_AS_IT_WAS_RAISED)
class CancellationIsSwallowed(Client):
    """A cancellation becomes an ordinary error."""

    class Count(ListingGenerations):
        async def ask(self, send):
            try:
                return await super().ask(send)
            except asyncio.CancelledError:
                raise RuntimeError("could not list") from None

    white_box = counting(Count)


@breaks(SEND_THAT_RAISES_AT_ONCE_SETTLES)
class SendOutsideTheTry(Client):
    """The send is called before anything is guarded, and its failure leaves the request out for ever."""

    class Count(ListingGenerations):
        async def ask(self, send):
            self._out += 1
            sending = send()
            self._out -= 1
            return await super().ask(lambda: sending)

    white_box = counting(Count)


@breaks(GENERATIONS_FOLLOW_THE_ORDER_OF_SETTLING)
class NumberedWhenSent(Client):
    """Listings are numbered in the order of sending, and the highest number is the latest."""

    class Count(ListingGenerations):
        sent = 0

        async def ask(self, send):
            self.sent += 1
            mine, self._out = self.sent, self._out + 1
            try:
                return SettledListing(await send(), mine)
            finally:
                self._out -= 1
                self._settled = max(self._settled, mine)

    white_box = counting(Count)


@breaks(UNSEEN_LISTINGS_ARE_NO_COVERAGE)
class CountThatClaimsAll(Client):
    """What the count cannot see is not said."""

    class Count(ListingGenerations):
        unseen = ""

    white_box = counting(Count)


@breaks(CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION)
class CancelledListingGoesOn(Client):
    """The request goes on behind the back of whoever gave it up."""

    class Count(ListingGenerations):
        async def ask(self, send):
            return await asyncio.shield(super().ask(send))

    white_box = counting(Count)


@breaks(CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION)
class LateAnswerIsKept(Client):
    """A listing that nobody waits for any more is kept when it comes, and served."""

    white_box = WhiteBox()  # the parts are right; its scenario looks at them first

    async def list_tools(self):
        if "late" in self.shared:
            return self.shared["late"]
        listing = asyncio.ensure_future(super().list_tools())
        try:
            return await asyncio.shield(listing)
        except asyncio.CancelledError:
            listing.add_done_callback(lambda late: self.shared.update(late=late.result()))
            raise


@breaks(NOTHING_SETTLED_IS_NOT_THE_LATEST)
class ZeroIsTheLatest(Client):
    """Nothing has settled, so 0 is the latest."""

    class Count(ListingGenerations):
        def is_latest(self, generation):
            return self._out == 0 and generation == self._settled

    white_box = counting(Count)


class Leaning(Caller):
    """Leaves a check to the SDK, where the listing is believed to be the latest; there is none then."""

    def left_to_the_sdk(self, tool):
        """Whether this check is left to the SDK."""
        return False

    def plan(self, tool):
        plan = super().plan(tool)
        return Plan(plan.name, plan.definition, None) if self.left_to_the_sdk(tool) else plan


@breaks(WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT)
class WhatIsOutIsLeftToTheSdk(Client):
    """While a listing is out, the checks are the SDK's."""

    class caller_type(Leaning):
        def left_to_the_sdk(self, tool):
            return bool(self._tools._flights)


@breaks(WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT)
class WhatIsOldIsLeftToTheSdk(Client):
    """A tool of an older listing is called as it is, and its answer is the SDK's to check."""

    class caller_type(Caller):
        def definition_of_handle(self, tool):
            return tool.definition

        def plan(self, tool):
            plan = super().plan(tool)
            old = not isinstance(tool, str) and tool.generation != self._tools.listed.generation
            return Plan(plan.name, plan.definition, None) if old else plan


@breaks(SAME_FAULT_GIVES_THE_SAME_ERROR)
class TwoErrorsForOneFault(Client):
    """What the wrapper checks itself, because a listing is out, fails by another error."""

    class caller_type(Caller):
        def judge(self, plan, result):
            try:
                return super().judge(plan, result)
            except CheckFailed as error:
                if self._tools._flights:
                    raise CallFailed(plan.name, error.reason) from error
                raise


@breaks(FAILED_LISTING_LEAVES_TOOLS_CHECKED)
class NothingIsCheckedAfterAFailure(Client):
    """After a listing that failed the checks are left to the SDK, which has lost them."""

    class tool_list_type(ToolList):
        failed = False

        async def fetch(self, flight):
            try:
                return await super().fetch(flight)
            except ListFailed:
                self.failed = True
                raise

    class caller_type(Leaning):
        def left_to_the_sdk(self, tool):
            return self._tools.failed


@breaks(TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED)
class OnlyTheLastPageIsChecked(Client):
    """A walk counts as one listing, and the SDK holds the checks of its last page."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            last = {entry["name"] for entry in pages[-1].entries if isinstance(entry, dict)}
            bare = []
            for known in definitions:
                entry = known.listed
                if known.name not in last:
                    entry.pop("outputSchema", None)
                bare.append(definition_of(entry))
            return tuple(bare), left_out


@breaks(CHECK_IS_CHOSEN_BEFORE_THE_SEND)
class CheckIsLookedUpAfterTheAnswer(Client):
    """The check is found by name when the answer is there."""

    class caller_type(Caller):
        def judge(self, plan, result):
            known = self._tools.listed.definition(plan.name)
            return result if known is None else self.check(known).judge(result)


@breaks(CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED)
class OnlyListRequestsCount(Client):
    """A notice is no list request, so the checks are believed to be the SDK's still."""

    class caller_type(Leaning):
        async def ready(self):
            connection = await self._dialler.connected()
            if self._tools.newest is None:
                await self._tools.current()
            return connection

        def left_to_the_sdk(self, tool):
            return self._tools.listed.stale


@breaks(CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED)
class DropsAreNotCounted(Client):
    """The count is told of a drop, and goes on."""

    class Count(ListingGenerations):
        def dropped(self):
            pass

    white_box = counting(Count)


@breaks(CACHE_HIT_IS_NOT_FRESHER)
class HitIsAbsorbed(Client):
    """The first listing is kept for good, and each time it is served its schemas come back."""

    caller_type = ByTheMap

    class tool_list_type(Absorbing):
        def keep(self, flight, listing):
            self.absorb(listing.definitions)
            super().keep(flight, listing)
            self.first = self.__dict__.get("first", listing.definitions)

        def servable(self):
            kept = super().servable()
            if kept is not None:
                self.absorb(self.first)
            return kept
