"""Wrong wrappers that lean on the SDK, over one that forgets."""

from __future__ import annotations

from mcp_conformance_reference.generations import SettledListing

from pytest_mcp_conformance.contract.caching import OVERTAKEN_LISTING_IS_DISCARDED
from pytest_mcp_conformance.contract.checks import (
    FAILED_LIST_LEAVES_THE_CHECKS_ALONE,
    VANISHED_TOOL_IS_NEVER_UNCHECKED,
)
from tests.wrong._session import OverSession, over_session


@over_session(FAILED_LIST_LEAVES_THE_CHECKS_ALONE, "failed_lists_are_not_counted")
class FailedListsAreNotCounted(OverSession):
    """The SDK is left to judge by the last listing that went well, whatever failed since."""

    answered = 0

    async def ask(self, cursor):
        answer = (await super().ask(cursor)).answer
        self.answered += 1
        return SettledListing(answer, self.answered)

    def leans(self, tool):
        return tool.generation == self.answered


@over_session(VANISHED_TOOL_IS_NEVER_UNCHECKED, "leans_while_it_counts_nothing_newer")
class LeansWhileItCountsNothingNewer(OverSession):
    """The SDK is left to judge as long as no later listing of the wrapper's own is known."""

    def leans(self, tool):
        return self.count.is_latest(tool.generation)


@over_session(VANISHED_TOOL_IS_NEVER_UNCHECKED, "leans_on_what_it_kept_last")
class LeansOnWhatItKeptLast(OverSession):
    """A listing that was thrown away is taken for one that the SDK has not seen."""

    newest = 0

    async def list_tools(self):
        tools = await super().list_tools()
        self.newest = max((tool.generation for tool in tools), default=0)
        return tools

    def leans(self, tool):
        return tool.generation == self.newest


@over_session(OVERTAKEN_LISTING_IS_DISCARDED, "keeps_what_it_asked_for")
class KeepsWhatItAskedFor(OverSession):
    """A listing is kept, whatever has changed while it was out."""

    def may_keep(self, began):
        return True
