"""Right wrappers that are made otherwise than the reference: none of them may be accused of anything.

They keep the rules of which the reference makes no claim, and others in another way than it does.
"""

from __future__ import annotations

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.adapters._reference_agent import Agent
from pytest_mcp_conformance.contract.caching import (
    EACH_PAGE_HAS_ITS_OWN_LIFETIME,
    MULTI_ROUND_ANSWERS_ARE_NOT_CACHED,
    POLLING_SPREADS_AND_BACKS_OFF,
)
from pytest_mcp_conformance.contract.calls import CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN
from pytest_mcp_conformance.contract.notices import NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES
from pytest_mcp_conformance.contract.pagination import (
    CURSOR_GOES_BACK_UNCHANGED,
    REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE,
)
from pytest_mcp_conformance.contract.tenants import (
    HEADERS_RIDE_ON_ALL_TRAFFIC,
    PROXY_SENDS_ITS_OWN_CREDENTIAL,
)
from tests.wrong._answering import Answers
from tests.wrong._client import Client
from tests.wrong._one_call import ForOneCall
from tests.wrong._pages import KeepsPages
from tests.wrong._polling import EVERY, Polls
from tests.wrong._proxying import Proxies
from tests.wrong._running import Runs
from tests.wrong._single_pages import GivesSinglePages
from tests.wrong._subscribing import Subscribes
from tests.wrong._wrong import breaks

__all__ = ["RIGHT"]


class StartsOverOnce(Client):
    """A walk whose cursor is refused is begun once more."""

    class walk_type(Walk):
        async def listing(self):
            try:
                return await super().listing()
            except ListFailed as error:
                if error.code is None:
                    raise
                return await super().listing()


class ListsOnceARun(Runs):
    """The model is shown the tools once; what goes wrong is a failed result."""

    class agent_type(Agent):
        async def run(self, calls):
            tools = await self.tools()
            return [await self.outcome(tools.get(name, name), arguments) for name, arguments in calls]

        async def outcome(self, tool, arguments):
            try:
                return await self.client.call_tool(tool, arguments)
            except Exception as error:
                return {"is_error": True, "content": [{"type": "text", "text": repr(error)}]}


RIGHT = (
    breaks(EACH_PAGE_HAS_ITS_OWN_LIFETIME, snapshot_lists=False)(KeepsPages).adapter,
    breaks(MULTI_ROUND_ANSWERS_ARE_NOT_CACHED, answers_input=True)(Answers).adapter,
    breaks(POLLING_SPREADS_AND_BACKS_OFF, polls=EVERY)(Polls).adapter,
    breaks(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE)(StartsOverOnce).adapter,
    breaks(CURSOR_GOES_BACK_UNCHANGED)(GivesSinglePages).adapter,
    breaks(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES)(Subscribes).adapter,
    breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)(ForOneCall).adapter,
    breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)(Proxies).adapter,
    breaks(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)(ListsOnceARun).adapter,
)
"""Their adapters, named after the rule that they are about."""
