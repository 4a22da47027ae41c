"""Wrong wrappers of SHR."""

from __future__ import annotations

from dataclasses import replace

from mcp_conformance_reference.conversation import Conversation
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.sharing import SharedDefinitions

from pytest_mcp_conformance.adapters._reference import WhiteBox, conversation_of
from pytest_mcp_conformance.contract.sharing import (
    A_HIT_IS_A_USE,
    BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED,
    CALLS_ARE_NEVER_SHARED,
    DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS,
    DROPPED_LISTING_REACHES_NO_OTHER_ENTRY,
    ENTRIES_ARE_BOUNDED,
    ENTRY_MADE_AGAIN_IS_A_NEW_LIST,
    FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE,
    INVALIDATION_HITS_WHAT_MATCHES,
    LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE,
    LONG_LIST_IS_NOT_SHARED,
    NOTICE_ON_ANY_CLIENT_IS_FOR_ALL,
    ONE_ENTRY_A_CONTEXT,
    ONLY_A_WHOLE_LIST_IS_SHARED,
    PEEK_MAKES_NOTHING,
    SHARING_IS_ASKED_FOR,
    TENANTS_NEVER_SHARE_AN_ENTRY,
    WHO_NEEDS_THE_LIST_LISTS,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def talking(kind):
    """The parts of a wrapper whose conversations are otherwise."""
    return WhiteBox(conversation=conversation_of(kind))


def sharing(kind):
    """The parts of a wrapper whose shared entries are otherwise."""
    return WhiteBox(shared_definitions=kind)


def everywhere():
    """Conversations that share one table, whether they were given one or not."""
    table = SharedDefinitions()

    class Talk(Conversation):
        def __init__(self, streams, *, shared=None, **how):
            super().__init__(streams, shared=shared or table, **how)

    return talking(Talk)


@breaks(SHARING_IS_ASKED_FOR)
class SharedByAddress(Client):
    """Whoever talks to one server shares, asked or not."""

    white_box = property(lambda client: everywhere())


@breaks(ONE_ENTRY_A_CONTEXT)
class CopyForEachUser(Client):
    """Each conversation has an entry of its own."""

    class Talk(Conversation):
        def __init__(self, streams, **how):
            super().__init__(streams, **how)
            self._context += str(id(self))

    white_box = talking(Talk)


@breaks(CALLS_ARE_NEVER_SHARED)
class CallsThroughTheLister(Client):
    """A tool is called through the client that listed it."""

    class Talk(Conversation):
        def write(self, into, began, listing, client):
            into.lister = self.client
            return super().write(into, began, listing, client)

        async def call(self, binding, arguments=None):
            self.refuse_stale(binding)
            entry = self.entry()
            lister = self.own.lister if entry is None else entry.list.lister
            return await lister.call(binding.definition, arguments)

    white_box = talking(Talk)


@breaks(WHO_NEEDS_THE_LIST_LISTS)
class ListedByWhoeverMadeIt(Client):
    """An entry is listed on the client of the conversation that made it."""

    class Talk(Conversation):
        def begin(self, served):
            served.maker = getattr(served, "maker", self)
            return Conversation.begin(served.maker, served)

    white_box = talking(Talk)


@breaks(ENTRIES_ARE_BOUNDED)
class NothingIsDropped(Client):
    """There are as many entries as contexts."""

    white_box = sharing(lambda max_entries, max_tools: SharedDefinitions(10**6, max_tools))


@breaks(ENTRIES_ARE_BOUNDED)
class OneEntryTooMany(Client):
    """The bound is looked at before an entry is made."""

    white_box = sharing(lambda max_entries, max_tools: SharedDefinitions(max_entries + 1, max_tools))


@breaks(ENTRIES_ARE_BOUNDED)
class NewestIsDropped(Client):
    """The entry that came just before goes first."""

    class Shared(SharedDefinitions):
        def victim(self):
            return list(self._entries)[-2]

    white_box = sharing(Shared)


@breaks(A_HIT_IS_A_USE)
class FirstMadeFirstDropped(Client):
    """Entries are dropped in the order in which they were made."""

    class Shared(SharedDefinitions):
        def entry_for(self, context, tenant):
            return self.peek(context, tenant) or super().entry_for(context, tenant)

    white_box = sharing(Shared)


@breaks(PEEK_MAKES_NOTHING)
class PeekMakesOne(Client):
    """Looking for an entry makes it."""

    class Shared(SharedDefinitions):
        def peek(self, context, tenant):
            return self.entry_for(context, tenant)

    white_box = sharing(Shared)


@breaks(BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED)
class BindingKeepsItsList(Client):
    """A binding is held against the list that it was taken from, wherever that is now."""

    class Talk(Conversation):
        seen = ()

        async def list_tools(self):
            served = await self.current()
            self.seen += (served,)
            return [served.bind(known) for known in served.all()]

        def admits(self, binding):
            return any(known.admits(binding) for known in self.seen)

    white_box = talking(Talk)


@breaks(ENTRY_MADE_AGAIN_IS_A_NEW_LIST)
class ListIsNamedByItsContext(Client):
    """The id of a shared list is its context."""

    class Shared(SharedDefinitions):
        def entry_for(self, context, tenant):
            entry = super().entry_for(context, tenant)
            entry.list.id = (context, tenant)
            return entry

    white_box = sharing(Shared)


@breaks(DROPPED_LISTING_REACHES_NO_OTHER_ENTRY)
class WrittenByContext(Client):
    """What was listed is written to the entry that the context has now."""

    class Talk(Conversation):
        def write(self, into, began, listing, client):
            entry = self.entry()
            if client is None and entry is not None and entry.list is not into:
                into, began = entry.list, entry.list.generation
            return super().write(into, began, listing, client)

    white_box = talking(Talk)


@breaks(DROPPED_LISTING_REACHES_NO_OTHER_ENTRY)
class ServedFromTheDroppedEntry(Client):
    """Whoever waited is served from the list that was written, wherever it is now."""

    class Talk(Conversation):
        def serves(self, written):
            return not written.stale

    white_box = talking(Talk)


@breaks(LONG_LIST_IS_NOT_SHARED)
class LongListIsCut(Client):
    """As many tools are shared as may be."""

    class Talk(Conversation):
        def shareable(self, listing):
            return True

        def write(self, into, began, listing, client):
            most = len(listing.definitions) if client is not None else self._shared.max_tools
            return super().write(
                into, began, replace(listing, definitions=listing.definitions[:most]), client
            )

    white_box = talking(Talk)


@breaks(LONG_LIST_IS_NOT_SHARED)
class BoundIsTooLong(Client):
    """A list of exactly the bound is not shared."""

    class Shared(SharedDefinitions):
        def fits(self, tools, whole):
            return whole and tools < self.max_tools

    white_box = sharing(Shared)


@breaks(LONG_LIST_IS_NOT_SHARED)
class LongListIsShared(Client):
    """Any list is shared."""

    class Shared(SharedDefinitions):
        def fits(self, tools, whole):
            return whole

    white_box = sharing(Shared)


@breaks(LONG_LIST_IS_NOT_SHARED)
class LongListFails(Client):
    """A list that is too long fails its conversation."""

    class Talk(Conversation):
        def unshare(self, served):
            raise ListFailed("tools/list", "too many tools")

    white_box = talking(Talk)


@breaks(LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE)
class ShortListLivesOn(Client):
    """What became too long is kept apart, and the entry stays as it is."""

    class Talk(Conversation):
        def unshare(self, served):
            pass

    white_box = talking(Talk)


@breaks(ONLY_A_WHOLE_LIST_IS_SHARED)
class PartIsSharedAsTheWhole(Client):
    """What could be read of a list is shared."""

    class Shared(SharedDefinitions):
        def fits(self, tools, whole):
            return tools <= self.max_tools

    white_box = sharing(Shared)


@breaks(INVALIDATION_HITS_WHAT_MATCHES)
class EverythingIsInvalidated(Client):
    """All entries are invalidated, whatever was asked for."""

    class Shared(SharedDefinitions):
        def invalidate(self, matches):
            super().invalidate(lambda entry: True)

    white_box = sharing(Shared)


@breaks(INVALIDATION_HITS_WHAT_MATCHES)
class OneEntryIsInvalidated(Client):
    """The most recently used entry that matches is invalidated, and the others are not."""

    class Shared(SharedDefinitions):
        def invalidate(self, matches):
            for entry in reversed(list(self._entries.values())):
                if matches(entry):
                    entry.list.invalidate()
                    return

    white_box = sharing(Shared)


@breaks(TENANTS_NEVER_SHARE_AN_ENTRY)
class KeyIsJoined(Client):
    """Tenant and context are joined by a slash."""

    class Shared(SharedDefinitions):
        def key(self, context, tenant):
            return f"{tenant}/{context}"

    white_box = sharing(Shared)


@breaks(TENANTS_NEVER_SHARE_AN_ENTRY)
class TenantIsNotInTheKey(Client):
    """An entry is found by its context alone."""

    class Shared(SharedDefinitions):
        def key(self, context, tenant):
            return context

    white_box = sharing(Shared)


@breaks(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL)
class NoticeIsForItsReceiver(Client):
    """Who was told of a change does not use the entry any more; the others do."""

    class Talk(Conversation):
        def noticed(self, client):
            self._shared = None
            self.own.invalidate()

    white_box = talking(Talk)


@breaks(DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS)
class LossIsEverybodys(Client):
    """Whoever waited for a listing whose client died has lost his own."""

    class Talk(Conversation):
        def lists_again(self, served, flight, error):
            return self.overtaken(served, flight)

    white_box = talking(Talk)


@breaks(DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS)
class EntryIsPoisoned(Client):
    """An entry whose listing failed once fails for good."""

    class Shared(SharedDefinitions):
        class list_type(DefinitionList):
            def joinable(self):
                failed = self.listing is not None and self.listing.settled and self.listing._error is not None
                return self.listing if failed else super().joinable()

        def forget(self, listed):
            pass

    white_box = sharing(Shared)


@breaks(FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE)
class FailedEntriesStay(Client):
    """An entry whose listing failed stays, empty."""

    class Talk(Conversation):
        def failed(self, served):
            pass

    white_box = talking(Talk)


@breaks(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL)
class LongListIsOfAnyMoment(Client):
    """A listing is not asked what has happened since it began; only a shared list guards itself."""

    class Talk(Conversation):
        def overtaken(self, served, flight):
            return False

    white_box = WhiteBox(conversation=conversation_of(Talk))
