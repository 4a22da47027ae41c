"""Wrong wrappers of DEF."""

from __future__ import annotations

import asyncio
import json
import math
import time
from types import SimpleNamespace

from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.conversation import Conversation
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.definitions import Definition, canonical, definition_of
from mcp_conformance_reference.errors import CallFailed, ListFailed, StaleTool
from mcp_conformance_reference.incarnation import Incarnation, WrappedTool
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.adapters._reference import WhiteBox, conversation_of
from pytest_mcp_conformance.contract.connections import CLOSE_ENDS_EVERYTHING_IT_OPENED
from pytest_mcp_conformance.contract.definitions import (
    AGE_COUNTS_FROM_THE_WRITE,
    BINDING_IS_CHECKED_AFTER_EVERY_WAIT,
    BINDING_NAMES_LIST_AND_GENERATION,
    CALL_ON_THE_WIRE_IS_LEFT_ALONE,
    CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS,
    CHANGED_CONFIGURATION_IS_A_NEW_LIST,
    CHANGED_PERMISSIONS_INVALIDATE,
    CHANGED_TOOLS_INVALIDATE,
    DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION,
    DEFINITION_HOLDS_DATA_AND_NO_CLIENT,
    DEFINITION_IS_A_FROZEN_COPY,
    FAILED_LISTING_WRITES_NOTHING,
    FIRST_LISTING_IN_FLIGHT_IS_DISCARDED,
    FIRST_WRITE_IS_A_NEW_GENERATION,
    GENERATIONS_ONLY_INCREASE,
    INVALIDATED_LIST_IS_LISTED_AGAIN,
    INVALIDATION_MOVES_THE_GENERATION_AT_ONCE,
    LAPSE_ALONE_REFUSES_NOTHING,
    LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE,
    LATER_NEED_GETS_A_LATER_LISTING,
    LIST_BELONGS_TO_ONE_INCARNATION,
    LIST_IDS_ARE_NEVER_USED_AGAIN,
    LISTING_IN_FLIGHT_IS_DISCARDED,
    NOTICE_INVALIDATES_ITS_CLIENTS_LIST,
    ODD_ENTRY_SPARES_THE_OTHERS,
    OLDER_BINDING_IS_REFUSED_UNSENT,
    ONE_LISTING_WRITES_A_LIST,
    ONE_NAME_IS_ONE_DEFINITION,
    OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON,
    PAGES_ARE_WRITTEN_ONCE_AND_WHOLE,
    REFUSED_WRITE_CHANGES_NOTHING,
    RELISTING_IN_FLIGHT_IS_DISCARDED,
    SAME_DEFINITION_MEANS_SAME_JSON,
    SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS,
    SAME_NEED_JOINS_ONE_LISTING,
    SEVERAL_NOTICES_ARE_ONE_RELISTING,
    SHARED_LIST_HANDS_OUT_NO_TOOL,
    WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def freezing(freeze):
    """The parts of a wrapper that freezes tools otherwise."""
    return WhiteBox(definition_of=freeze)


def listing(kind):
    """The parts of a wrapper whose lists are otherwise, by themselves and in conversations."""

    class Talk(Conversation):
        definition_list_type = kind

    return WhiteBox(definition_list=kind, conversation=conversation_of(Talk))


def talking(kind):
    """The parts of a wrapper whose conversations are otherwise."""
    return WhiteBox(conversation=conversation_of(kind))


def walking(kind):
    """The parts of a wrapper whose conversations walk through the pages otherwise."""

    class OtherIncarnation(Incarnation):
        async def listing(self, overtaken):
            return await kind(self._connection, self._settings, overtaken).listing()

    class Talk(Conversation):
        incarnation_type = OtherIncarnation

    return talking(Talk)


# -- one definition


@breaks(DEFINITION_HOLDS_DATA_AND_NO_CLIENT)
class DefinitionKeepsTheClient(Client):
    """What a definition came from is kept beside it."""

    class Talk(Conversation):
        async def list_tools(self):
            bindings = await super().list_tools()
            for binding in bindings:
                object.__setattr__(binding.definition, "source", self.client)
            return bindings

    white_box = talking(Talk)


@breaks(DEFINITION_HOLDS_DATA_AND_NO_CLIENT)
class DefinitionLosesItsMeta(Client):
    """Only the fields that are known are kept."""

    white_box = freezing(
        lambda listed: definition_of({key: value for key, value in listed.items() if key != "_meta"})
    )


def shown(listed, compared):
    """A definition that shows something else than a copy, or is compared by something else."""
    return SimpleNamespace(name=listed["name"], listed=listed, canonical=compared)


@breaks(DEFINITION_IS_A_FROZEN_COPY)
class DefinitionIsTheListing(Client):
    """A definition is the very entry that was listed."""

    white_box = freezing(lambda listed: definition_of(listed) and shown(listed, canonical(listed)))


@breaks(DEFINITION_IS_A_FROZEN_COPY)
class CopyIsShallow(Client):
    """The entry is copied, and what is in it is shared."""

    white_box = freezing(lambda listed: definition_of(listed) and shown(dict(listed), canonical(listed)))


class HandsOutItself(Definition):
    """A definition that is not copied when it is looked at."""

    @property
    def listed(self):
        """The entry itself."""
        return self.__dict__.setdefault("kept", json.loads(self.text))


@breaks(DEFINITION_IS_A_FROZEN_COPY)
class JudgedByWhatWasHandedOut(Client):
    """A copy is kept, handed out as it is, and judged by."""

    class OtherWalk(Walk):
        def read_entry(self, entry):
            read = super().read_entry(entry)
            return HandsOutItself(read.name, read.text, read.canonical)

    white_box = walking(OtherWalk)


def dumped(listed):
    """A definition of whatever can be dumped in some way."""
    text = json.dumps(listed, default=str)
    return Definition(listed["name"], text, text)


@breaks(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION)
class WhateverCanBeDumped(Client):
    """What JSON does not know is turned into a text."""

    white_box = freezing(dumped)


def descended(value):
    """A copy that does not look where it has been."""
    if isinstance(value, dict):
        return {key: descended(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [descended(inner) for inner in value]
    return value


@breaks(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION)
class RecursionEscapes(Client):
    """Data that holds itself is copied for ever."""

    white_box = freezing(lambda listed: definition_of(descended(listed)))


@breaks(ODD_ENTRY_SPARES_THE_OTHERS)
class OddEntryFailsTheListing(Client):
    """One entry that is no tool fails the listing."""

    class OtherWalk(Walk):
        def read_entry(self, entry):
            try:
                return definition_of(entry)
            except ValueError as error:
                raise ListFailed("tools/list", str(error)) from error

    white_box = walking(OtherWalk)


@breaks(ODD_ENTRY_SPARES_THE_OTHERS)
class OddEntryIsServedAllTheSame(Client):
    """An entry that is no tool is served by its name, and checked by nothing."""

    class OtherWalk(Walk):
        def read_entry(self, entry):
            try:
                return definition_of(entry)
            except ValueError:
                return definition_of({"name": entry["name"], "inputSchema": {"type": "object"}})

    white_box = walking(OtherWalk)


def compared_by(compare):
    """A way to freeze in which another form is compared."""

    def freeze(listed):
        frozen = definition_of(listed)
        return shown(frozen.listed, compare(frozen.listed))

    return freezing(freeze)


@breaks(SAME_DEFINITION_MEANS_SAME_JSON)
class ComparedByEquality(Client):
    """True is 1, and 1.0 is 1."""

    white_box = compared_by(lambda listed: listed)


@breaks(SAME_DEFINITION_MEANS_SAME_JSON)
class ComparedInTheOrderOfKeys(Client):
    """The same keys in another order are another definition."""

    white_box = compared_by(json.dumps)


@breaks(SAME_DEFINITION_MEANS_SAME_JSON)
class ComparedInNoOrderAtAll(Client):
    """Arrays are sorted as well."""

    white_box = compared_by(lambda listed: "".join(sorted(json.dumps(listed))))


def without_null(value):
    """The same without the keys that hold null."""
    if isinstance(value, dict):
        return {key: without_null(each) for key, each in value.items() if each is not None}
    return value


@breaks(SAME_DEFINITION_MEANS_SAME_JSON)
class NullIsAbsent(Client):
    """Null is left out."""

    white_box = compared_by(lambda listed: canonical(without_null(listed)))


# -- one list


@breaks(LIST_BELONGS_TO_ONE_INCARNATION)
class ListIsKeptByPlan(Client):
    """A replacement of the same plan goes on with the list."""

    class Talk(Conversation):
        kept = None

        def list_of(self, client):
            self.kept = self.kept or super().list_of(client)
            return self.kept

    white_box = talking(Talk)


@breaks(BINDING_NAMES_LIST_AND_GENERATION)
class OnlyTheNumberIsCompared(Client):
    """A binding is good if its generation is the list's."""

    class List(DefinitionList):
        def admits(self, binding):
            return binding.generation == self.generation

    white_box = listing(List)


@breaks(LIST_IDS_ARE_NEVER_USED_AGAIN)
class IdIsTheAddress(Client):
    """A list is named by where it lies in memory."""

    class List(DefinitionList):
        def __init__(self):
            super().__init__()
            self.id = id(self)

    white_box = listing(List)


@breaks(FIRST_WRITE_IS_A_NEW_GENERATION)
class FirstWriteIsNumberOne(Client):
    """The first write sets the generation to 1."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            first = not self.written
            written = super().write(began, definitions, tools, now)
            if first and written:
                self.generation = 1
            return written

    white_box = listing(List)


@breaks(FIRST_WRITE_IS_A_NEW_GENERATION)
class FirstWriteMovesNothing(Client):
    """The first write keeps the number, as any write after an invalidation."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            self._written = True
            self.stale = True
            return super().write(began, definitions, tools, now)

    white_box = listing(List)


@breaks(INVALIDATION_MOVES_THE_GENERATION_AT_ONCE)
class InvalidationOnlyMarks(Client):
    """The generation moves when the new list is written."""

    class List(DefinitionList):
        def invalidate(self):
            self.stale = True

        def write(self, began, definitions, tools, now):
            if self.stale and self.written:
                self.generation += 1
                began += 1
            return super().write(began, definitions, tools, now)

    white_box = listing(List)


@breaks(INVALIDATION_MOVES_THE_GENERATION_AT_ONCE)
class InvalidationMarksNothing(Client):
    """The generation moves, and the list is served on."""

    class List(DefinitionList):
        def invalidate(self):
            self.generation += 1

    white_box = listing(List)


@breaks(OLDER_BINDING_IS_REFUSED_UNSENT)
class SendsAndThenReports(Client):
    """The binding is looked at when the answer is there."""

    class Talk(Conversation):
        async def call(self, binding, arguments=None):
            result = await self.client.call(binding.definition, arguments)
            self.refuse_stale(binding)
            return result

    white_box = talking(Talk)


@breaks(OLDER_BINDING_IS_REFUSED_UNSENT)
class CallsTheNewToolOfThatName(Client):
    """An older binding is taken for a wish to call the tool of that name."""

    class Talk(Conversation):
        async def call(self, binding, arguments=None):
            if not self.admits(binding):
                served = await self.current()
                binding = served.bind(served.definition(binding.name))
            return await super().call(binding, arguments)

    white_box = talking(Talk)


@breaks(OLDER_BINDING_IS_REFUSED_UNSENT)
class RefusalIsAFailedCall(Client):
    """An older binding is refused as if the server had failed the call."""

    class Talk(Conversation):
        def refuse_stale(self, binding):
            try:
                super().refuse_stale(binding)
            except StaleTool as error:
                raise CallFailed(binding.name, error.reason) from error

    white_box = talking(Talk)


@breaks(INVALIDATED_LIST_IS_LISTED_AGAIN)
class TimeLimitOutlivesTheInvalidation(Client):
    """A list within its time limit is served, whatever was said."""

    class List(DefinitionList):
        def servable(self, now, ttl):
            return self.written and now - self.listed_at < ttl

    white_box = listing(List)


@breaks(LISTING_IN_FLIGHT_IS_DISCARDED)
class RelistingIsWrittenInAnyCase(Client):
    """What was asked for because of an invalidation is written, whatever happened since."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            if self.listing is not None and self.written and self.stale:
                began = self.generation
            return super().write(began, definitions, tools, now)

    white_box = listing(List)


@breaks(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED)
class GuardBeginsWithTheFirstWrite(Client):
    """A first listing has nothing to be older than."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            return super().write(began if self.written else self.generation, definitions, tools, now)

    white_box = listing(List)


@breaks(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED)
class NothingToInvalidateYet(Client):
    """A list that was never written is not moved."""

    class List(DefinitionList):
        def invalidate(self):
            if self.written:
                super().invalidate()

    white_box = listing(List)


@breaks(RELISTING_IN_FLIGHT_IS_DISCARDED)
class LapseSkipsTheGuard(Client):
    """What was asked for because of a lapse is written, whatever happened since."""

    class List(DefinitionList):
        lapsed = False

        def begin(self, lister, work):
            self.lapsed = self.written and not self.stale
            return super().begin(lister, work)

        def write(self, began, definitions, tools, now):
            return super().write(self.generation if self.lapsed else began, definitions, tools, now)

    white_box = listing(List)


@breaks(GENERATIONS_ONLY_INCREASE)
class InvalidationBeginsAnew(Client):
    """An invalidated list begins at the beginning."""

    class List(DefinitionList):
        def invalidate(self):
            super().invalidate()
            if self.generation > 2:
                self.generation = 0

    white_box = listing(List)


@breaks(WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION)
class WriteMovesOnceMore(Client):
    """The invalidation moves the generation, and the write does as well."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            moved = self.written and self.stale
            written = super().write(began, definitions, tools, now)
            self.generation += moved and written
            return written

    white_box = listing(List)


@breaks(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS)
class EveryWriteMoves(Client):
    """A list that lapsed is another one afterwards."""

    class List(DefinitionList):
        def differs(self, listed):
            return True

    white_box = listing(List)


@breaks(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS)
class LimitIsNotRenewed(Client):
    """A list that has not changed is not written, and so stays as old as it was."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            moment, generation = self.listed_at, self.generation
            stale = self.stale
            written = super().write(began, definitions, tools, now)
            if written and not stale and self.generation == generation:
                self.listed_at = moment
            return written

    white_box = listing(List)


@breaks(OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON)
class OnlyNamesAreCompared(Client):
    """A list differs if its names do."""

    class List(DefinitionList):
        def differs(self, listed):
            return set(listed) != set(self._definitions)

    white_box = listing(List)


@breaks(LAPSE_ALONE_REFUSES_NOTHING)
class LimitIsAskedAtTheCall(Client):
    """A binding of a list that lapsed is refused."""

    class Talk(Conversation):
        def admits(self, binding):
            return super().admits(binding) and self.own.servable(self._settings.now(), self._ttl)

    white_box = talking(Talk)


@breaks(AGE_COUNTS_FROM_THE_WRITE)
class AgeCountsFromTheSend(Client):
    """A listing is as old as its request."""

    class Talk(Conversation):
        async def listing(self, client, overtaken):
            self.sent = self._settings.now()
            return await super().listing(client, overtaken)

        def write(self, into, began, listing, client):
            written = super().write(into, began, listing, client)
            into.listed_at = self.sent
            return written

    white_box = talking(Talk)


@breaks(AGE_COUNTS_FROM_THE_WRITE)
class AgeIsOfTheWallClock(Client):
    """The moment of writing is taken from a clock of its own."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            return super().write(began, definitions, tools, time.time())

    white_box = listing(List)


@breaks(AGE_COUNTS_FROM_THE_WRITE)
class ServedAtTheEndOfTheLimit(Client):
    """A list that is exactly as old as its limit is served."""

    class List(DefinitionList):
        def servable(self, now, ttl):
            return super().servable(now, math.nextafter(ttl, math.inf))

    white_box = listing(List)


@breaks(AGE_COUNTS_FROM_THE_WRITE)
class EmptyListIsServed(Client):
    """A list that was never written is served as an empty one."""

    class List(DefinitionList):
        def servable(self, now, ttl):
            return not self.written or super().servable(now, ttl)

    white_box = WhiteBox(definition_list=List)


# -- listings under way


@breaks(SAME_NEED_JOINS_ONE_LISTING)
class EveryNeedLists(Client):
    """Whoever finds no list asks for one."""

    class List(DefinitionList):
        def joinable(self):
            return None

    white_box = listing(List)


@breaks(LATER_NEED_GETS_A_LATER_LISTING)
class JoinersTakeWhatComes(Client):
    """Whoever joined a listing is given its answer, whatever was heard since."""

    class Talk(Conversation):
        async def list_tools(self):
            flight = self.own.joinable()
            if flight is None:
                return await super().list_tools()
            await flight.wait()
            return [self.own.bind(known) for known in self.last.definitions]

        async def listing(self, client, overtaken):
            self.last = await super().listing(client, overtaken)
            return self.last

    white_box = talking(Talk)


@breaks(ONE_LISTING_WRITES_A_LIST)
class RelistingsRace(Client):
    """After an invalidation everybody lists for himself."""

    class List(DefinitionList):
        def joinable(self):
            return None if self.stale else super().joinable()

    white_box = listing(List)


@breaks(ONE_LISTING_WRITES_A_LIST)
class SecondWriteOfOneGeneration(Client):
    """A second listing that began at the same generation is written over the first."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            if self.written and began == self.generation:
                self.stale = True
            return super().write(began, definitions, tools, now)

    white_box = WhiteBox(definition_list=List)


@breaks(FAILED_LISTING_WRITES_NOTHING)
class FailureIsKept(Client):
    """The listing that failed is what later needs wait for."""

    class List(DefinitionList):
        def joinable(self):
            failed = self.listing is not None and self.listing.settled and self.listing._error is not None
            return self.listing if failed else super().joinable()

    white_box = listing(List)


@breaks(FAILED_LISTING_WRITES_NOTHING)
class FailureClearsTheList(Client):
    """After a failure nothing is known any more."""

    class Talk(Conversation):
        def failed(self, served):
            super().failed(served)
            self.own = self.definition_list_type()

    white_box = talking(Talk)


@breaks(FAILED_LISTING_WRITES_NOTHING)
class FailureDropsTheSharedList(Client):
    """A relisting that fails takes the shared list away that was good till then."""

    class Talk(Conversation):
        def failed(self, served):
            if self._shared is not None:
                self._shared.forget(served)

    white_box = talking(Talk)


@breaks(FAILED_LISTING_WRITES_NOTHING)
class FailureIsAnEmptyListing(Client):
    """Whoever joined a listing that failed is given no tools."""

    class Talk(Conversation):
        async def list_tools(self):
            try:
                return await super().list_tools()
            except ListFailed:
                return []

    white_box = talking(Talk)


@breaks(CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS)
class ListingEndsWithItsStarter(Client):
    """The listing belongs to the task of whoever needed it first."""

    class List(DefinitionList):
        def begin(self, lister, work):
            flight = super().begin(lister, work)

            def ended(starter):
                if starter.cancelled():
                    flight.fail(RuntimeError("cancelled"))

            asyncio.current_task().add_done_callback(ended)
            return flight

    white_box = listing(List)


@breaks(REFUSED_WRITE_CHANGES_NOTHING)
class MomentIsTakenFirst(Client):
    """The moment is taken before anything is looked at."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            self.listed_at = now
            return super().write(began, definitions, tools, now)

    white_box = listing(List)


@breaks(REFUSED_WRITE_CHANGES_NOTHING)
class RefusedWriteIsNotSaid(Client):
    """Whoever writes is told that all is well."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            super().write(began, definitions, tools, now)
            return True

    white_box = WhiteBox(definition_list=List)


# -- what ends a list


@breaks(NOTICE_INVALIDATES_ITS_CLIENTS_LIST)
class NoticeIsNotTied(Client):
    """Nobody is told of a notice."""

    class Talk(Conversation):
        def noticed(self, client):
            pass

    white_box = talking(Talk)


@breaks(CHANGED_PERMISSIONS_INVALIDATE)
class PermissionsAreOnlyReadAgain(Client):
    """The list stays as it is."""

    class Talk(Conversation):
        def permissions_changed(self):
            pass

    white_box = talking(Talk)


@breaks(CHANGED_TOOLS_INVALIDATE)
class ChangeIsALapse(Client):
    """Changed tools are listed again, and older bindings live on."""

    class Talk(Conversation):
        def tools_changed(self):
            self.own.listed_at = -math.inf

    white_box = talking(Talk)


@breaks(CHANGED_CONFIGURATION_IS_A_NEW_LIST)
class ConfigurationKeepsTheList(Client):
    """The list goes on under another configuration."""

    class Talk(Conversation):
        def reconfigure(self, context):
            own = self.own
            super().reconfigure(context)
            self.own = own

    white_box = talking(Talk)


@breaks(CHANGED_CONFIGURATION_IS_A_NEW_LIST)
class ConfigurationEmptiesTheList(Client):
    """Another configuration is taken for changed tools."""

    class Talk(Conversation):
        def reconfigure(self, context):
            self.own.invalidate()

    white_box = talking(Talk)


@breaks(LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE)
class NoticeIsForWhoeverIsThere(Client):
    """A notice is for the list in use, wherever it arrived."""

    class Talk(Conversation):
        def noticed(self, client):
            super().noticed(self.client)

    white_box = talking(Talk)


@breaks(SHARED_LIST_HANDS_OUT_NO_TOOL)
class SharedListKeepsTools(Client):
    """The tools of whoever listed are shared with the list."""

    class Talk(Conversation):
        def write(self, into, began, listing, client):
            return super().write(into, began, listing, client or self.client)

    white_box = talking(Talk)


@breaks(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE)
class FirstPageIsTheList(Client):
    """A walk ends with its first page."""

    class OtherWalk(Walk):
        def ends(self, page):
            return True

    white_box = walking(OtherWalk)


@breaks(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE)
class FailedPageEndsTheWalk(Client):
    """What came before a page that failed is taken for the list."""

    class OtherWalk(Walk):
        async def page(self, cursor):
            try:
                return await super().page(cursor)
            except ListFailed:
                if cursor is None:
                    raise
                return self.read({"tools": []})

    white_box = walking(OtherWalk)


@breaks(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE)
class PagesOfTwoMoments(Client):
    """A notice between two pages is not asked about, of a list that was never written."""

    class Talk(Conversation):
        class definition_list_type(DefinitionList):
            def write(self, began, definitions, tools, now):
                definitions = tuple(definitions)
                walked = len({known.name for known in definitions}) == 3 and not self.written
                pages = walked and not any(known.promises_output for known in definitions)
                return super().write(self.generation if pages else began, definitions, tools, now)

        def overtaken(self, served, flight):
            return False

    white_box = talking(Talk)


@breaks(SEVERAL_NOTICES_ARE_ONE_RELISTING)
class EachNoticeIsListed(Client):
    """Each notice has the tools listed at once."""

    class Talk(Conversation):
        def noticed(self, client):
            super().noticed(client)
            self.relisting = asyncio.ensure_future(self.list_tools())
            self.relisting.add_done_callback(lambda done: done.cancelled() or done.exception())

    white_box = talking(Talk)


# -- calls


@breaks(BINDING_IS_CHECKED_AFTER_EVERY_WAIT)
class CheckedBeforeTheWait(Client):
    """A binding is looked at as the call comes in."""

    class Talk(Conversation):
        async def call(self, binding, arguments=None):
            self.refuse_stale(binding)
            await self.wait_before(binding, arguments)
            return await self.client.call(binding.definition, arguments)

    white_box = talking(Talk)


@breaks(CALL_ON_THE_WIRE_IS_LEFT_ALONE)
class NoticeRecallsTheCalls(Client):
    """A notice ends the calls that are out."""

    class Talk(Conversation):
        calls = frozenset()

        async def call(self, binding, arguments=None):
            call = asyncio.ensure_future(super().call(binding, arguments))
            self.calls |= {call}
            try:
                return await call
            except asyncio.CancelledError:
                raise RuntimeError("recalled") from None

        def noticed(self, client):
            super().noticed(client)
            for call in self.calls:
                call.cancel()

    white_box = talking(Talk)


@breaks(CALL_ON_THE_WIRE_IS_LEFT_ALONE)
class JudgedByTheNewestList(Client):
    """The answer is judged by what the list says when it comes."""

    class Talk(Conversation):
        class incarnation_type(Incarnation):
            async def call(self, definition, arguments):
                bare = definition.listed
                bare.pop("outputSchema", None)
                return await super().call(definition_of(bare), arguments)

        async def call(self, binding, arguments=None):
            result = await super().call(binding, arguments)
            return OutputCheck(self.own.definition(binding.name) or binding.definition).judge(result)

    white_box = talking(Talk)


@breaks(ONE_NAME_IS_ONE_DEFINITION)
class FirstIsServedLastIsFound(Client):
    """The first of a name is listed, and the last is found by it."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            definitions = tuple(definitions)
            written = super().write(began, definitions, tools, now)
            if written:
                self.first = {known.name: known for known in reversed(definitions)}
            return written

        def all(self):
            return tuple(self.first[known.name] for known in super().all())

    white_box = listing(List)


class FirstOfEachName(Walk):
    """Gives the first of each name, which carries the last one along."""

    def collect(self, pages):
        definitions, left_out = super().collect(pages)
        last = {known.name: known for known in definitions}
        first = {known.name: known for known in reversed(definitions)}
        for name, known in first.items():
            object.__setattr__(known, "judge", last[name])
        return tuple(first[name] for name in last), left_out


@breaks(ONE_NAME_IS_ONE_DEFINITION)
class ServesTheFirstAndChecksByTheLast(Client):
    """A binding shows the first of a name, and a call is judged by the last."""

    class Talk(Conversation):
        class incarnation_type(Incarnation):
            async def listing(self, overtaken):
                return await FirstOfEachName(self._connection, self._settings, overtaken).listing()

            async def call(self, definition, arguments):
                return await super().call(definition.judge, arguments)

    white_box = talking(Talk)


# -- tools of the client itself, and replaced clients


@breaks(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION)
class HalfOfALetterIsText(Client):
    """A text is not looked into, whatever is in it."""

    @staticmethod
    def freeze(listed):
        try:
            return definition_of(listed)
        except ValueError as odd:
            if "surrogate" not in str(odd):
                raise
            return shown(listed, canonical(listed))

    white_box = freezing(freeze)


@breaks(BINDING_NAMES_LIST_AND_GENERATION)
class ListsMadeLaterFit(Client):
    """A binding fits if its list is not older."""

    class List(DefinitionList):
        def admits(self, binding):
            return binding.list_id >= self.id and binding.generation == self.generation

    white_box = listing(List)


@breaks(BINDING_NAMES_LIST_AND_GENERATION)
class OwnToolOutlivesItsClient(Client):
    """An own tool is good while its list is, whoever is in use."""

    class Talk(Conversation):
        def wrapped(self, listing, into, client):
            good = lambda tool: not into.stale and into.tool(tool.name) is tool  # noqa: E731
            return [WrappedTool(known, client, good) for known in listing.definitions]

    white_box = talking(Talk)


@breaks(OLDER_BINDING_IS_REFUSED_UNSENT)
class OwnToolIsAlwaysGood(Client):
    """An own tool is called whatever has become of its list."""

    class Talk(Conversation):
        def wrapped(self, listing, into, client):
            return [WrappedTool(known, client, lambda tool: True) for known in listing.definitions]

    white_box = talking(Talk)


@breaks(OLDER_BINDING_IS_REFUSED_UNSENT)
class RefusesByAccident(Client):
    """The refusal stumbles over itself."""

    class Talk(Conversation):
        def refuse_stale(self, binding):
            if not self.admits(binding):
                raise StaleTool(binding.name, binding.reason)

    white_box = talking(Talk)


@breaks(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS)
class OwnToolsAreMadeAnew(Client):
    """The same list comes again, and the own tools that were handed out are good no more."""

    class List(DefinitionList):
        def write(self, began, definitions, tools, now):
            wrapped = None if tools is None else list(tools)
            written = super().write(began, definitions, wrapped, now)
            if written and wrapped is not None:
                self._tools = {tool.name: tool for tool in wrapped}
            return written

    white_box = listing(List)


@breaks(CHANGED_PERMISSIONS_INVALIDATE)
class PermissionsAreOfTheOwnListAlone(Client):
    """Changed permissions leave shared lists as they are."""

    class Talk(Conversation):
        def permissions_changed(self):
            self.own.invalidate()

    white_box = talking(Talk)


@breaks(CHANGED_CONFIGURATION_IS_A_NEW_LIST)
class EntryOutlivesItsConfiguration(Client):
    """A changed configuration is a new own list, and the shared entry of the old one."""

    class Talk(Conversation):
        def reconfigure(self, context):
            self.own = self.definition_list_type()

    white_box = talking(Talk)


@breaks(NOTICE_INVALIDATES_ITS_CLIENTS_LIST)
class NoticesOfTheFirstClientCount(Client):
    """Notices are heard on the client that has been there longest."""

    class Talk(Conversation):
        def noticed(self, client):
            if client is self._opened[0] is self.client:
                self.own.invalidate()

    white_box = talking(Talk)


@breaks(LIST_BELONGS_TO_ONE_INCARNATION)
class DialInsteadOfAClient(Client):
    """A replacement takes the place of the client before it is dialled."""

    class Talk(Conversation):
        async def replace(self):
            before = getattr(self, "own", None)
            self.own = self.definition_list_type()
            try:
                await super().replace()
            except BaseException:
                self.client = self.incarnation_type(self._open_streams, self._settings, self.noticed)
                assert before is not None
                raise

    white_box = talking(Talk)


@breaks(CLOSE_ENDS_EVERYTHING_IT_OPENED)
class ReplacedClientIsForgotten(Client):
    """The end of a conversation ends the client in use, and none that was replaced."""

    class Talk(Conversation):
        async def __aexit__(self, *exc):
            self._opened = self._opened[-1:]
            await super().__aexit__(*exc)

    white_box = talking(Talk)


@breaks(DEFINITION_HOLDS_DATA_AND_NO_CLIENT)
class NameIsWhateverIsThere(Client):
    """The name of a tool is not looked at."""

    @staticmethod
    def freeze(listed):
        named = definition_of({**listed, "name": str(listed["name"]) or "a"})
        return named and SimpleNamespace(name=listed["name"], listed=named.listed, canonical=named.canonical)

    white_box = freezing(freeze)
