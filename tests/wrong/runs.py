"""Wrong wrappers of CHK and CALL whose agents run badly."""

from __future__ import annotations

from mcp_conformance_reference.errors import VerbTimeout

from pytest_mcp_conformance.adapters._reference_agent import Agent
from pytest_mcp_conformance.contract.calls import CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN
from pytest_mcp_conformance.contract.checks import CALLS_DO_NOT_EACH_COST_A_LISTING
from tests.wrong._running import Runs
from tests.wrong._wrong import breaks


@breaks(CALLS_DO_NOT_EACH_COST_A_LISTING)
class ListsForEachStep(Runs):
    """Before each step of a run the list that is kept is thrown away."""

    class agent_type(Agent):
        async def tools(self):
            await self.client.refresh()
            return await super().tools()


@breaks(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)
class LimitEndsTheRun(Runs):
    """The model is told of what a tool or the server says; a limit that is over is raised."""

    class agent_type(Agent):
        async def outcome(self, tool, arguments):
            shown = await super().outcome(tool, arguments)
            if "longer than its limit" in str(shown):
                raise RuntimeError(shown)
            return shown


@breaks(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)
class LimitIsTheLastStep(Runs):
    """A run whose call has run into its limit ends there, as if the model had nothing more to say."""

    class agent_type(Agent):
        async def run(self, calls):
            try:
                return [await self.outcome(*call) for call in calls]
            except VerbTimeout:
                return []

        async def outcome(self, tool, arguments):
            return await self.client.call_tool(tool, arguments)
