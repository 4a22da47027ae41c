"""Wrong wrappers of CALL that lose an argument, or a part of a result."""

from __future__ import annotations

from dataclasses import replace

from mcp_conformance_reference.calls import Caller

from pytest_mcp_conformance.contract.calls import (
    ARGUMENTS_ARRIVE_AS_GIVEN,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
    TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(ARGUMENTS_ARRIVE_AS_GIVEN)
class ArgumentIsTakenForTheTool(Client):
    """An argument `tool_name` is taken for the name of the tool."""

    async def call_tool(self, tool, arguments=None, **more):
        given = dict(arguments or {})
        return await super().call_tool(given.pop("tool_name", tool), given, **more)


@breaks(ARGUMENTS_ARRIVE_AS_GIVEN)
class ArgumentIsTakenForASetting(Client):
    """Arguments that are called as settings of the client are taken for these."""

    async def call_tool(self, tool, arguments=None, **more):
        given = {key: value for key, value in (arguments or {}).items() if key not in ("timeout", "config")}
        return await super().call_tool(tool, given, **more)


@breaks(ARGUMENTS_ARRIVE_AS_GIVEN)
class NoneIsNotSent(Client):
    """An argument that is null is taken for one that was not given."""

    async def call_tool(self, tool, arguments=None, **more):
        given = {key: value for key, value in (arguments or {}).items() if value is not None}
        return await super().call_tool(tool, given, **more)


@breaks(ARGUMENTS_ARRIVE_AS_GIVEN)
class EmptyIsNone(Client):
    """An argument that is empty, zero or false is sent as null."""

    async def call_tool(self, tool, arguments=None, **more):
        given = {key: value or None for key, value in (arguments or {}).items()}
        return await super().call_tool(tool, given, **more)


@breaks(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER)
class FirstTextAlone(Client):
    """Of the parts of a result the first one is handed out."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return super().read(plan, {**raw, "content": raw["content"][:1]})


@breaks(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER)
class TextAlone(Client):
    """Structured content is checked, and not handed out."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return replace(super().read(plan, raw), structured_content=None)


@breaks(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
class FirstPartOfAnErrorAlone(Client):
    """Of a result that says that it failed the first part is the message."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return super().read(plan, {**raw, "content": raw["content"][:1]} if raw.get("isError") else raw)


@breaks(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
class StructuredContentIsASuccess(Client):
    """Where there is structured content, it is handed out before it is asked whether the tool failed."""

    class caller_type(Caller):
        def read(self, plan, raw):
            result = super().read(plan, raw)
            return result if result.structured_content is None else replace(result, is_error=False)
