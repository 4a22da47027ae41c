"""More wrong wrappers of CHK: about what an answer is judged by and when, and what a refusal holds."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.errors import CheckFailed
from mcp_conformance_reference.results import CallResult

from pytest_mcp_conformance.contract.checks import (
    CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER,
    CALLS_DO_NOT_EACH_COST_A_LISTING,
    REFUSAL_KEEPS_WHAT_IT_HELD,
    TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER)
class LooksTheSchemaUpAfterTheAnswer(Client):
    """An answer is judged by the definition that is there when it comes."""

    class caller_type(Caller):
        def judge(self, plan, result):
            known = self._tools.newest.definition(plan.name)
            return result if known is None else self.check(known).judge(result)


@breaks(TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA)
class JudgesToolErrorsToo(Client):
    """A tool that failed is asked for what it would have given."""

    class check_type(OutputCheck):
        def promised(self, result):
            return True


@breaks(CALLS_DO_NOT_EACH_COST_A_LISTING)
class ListsBeforeEachCall(Client):
    """Before each call the tools are listed, to be sure."""

    class caller_type(Caller):
        async def ready(self):
            await self._tools.refresh()
            return await super().ready()


@breaks(CALLS_DO_NOT_EACH_COST_A_LISTING)
class ListsForEachUnknownName(Client):
    """A tool that is not listed is looked for in a listing of its own, after each call."""

    class caller_type(Caller):
        async def call(self, tool, arguments, *more):
            result = await super().call(tool, arguments, *more)
            if isinstance(tool, str) and self._tools.listed.definition(tool) is None:
                await self._tools.refresh()
            return result


@breaks(REFUSAL_KEEPS_WHAT_IT_HELD)
class RefusalHoldsTheReasonAlone(Client):
    """A refused answer is thrown away; the error says what was wrong with it."""

    class check_type(OutputCheck):
        def judge(self, result):
            try:
                return super().judge(result)
            except CheckFailed as refused:
                raise CheckFailed(self._name, refused.reason, CallResult.read({})) from None
