"""Wrong wrappers of CALL that end calls wrongly."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

import anyio
from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.errors import CallFailed, ConnectionLost, StaleTool
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.rounds import Rounds

from pytest_mcp_conformance.contract.calls import (
    CANCELLED_VERB_ENDS_AS_CANCELLED,
    LONGER_LIMIT_IS_NOT_CUT_SHORT,
    PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL,
    STALE_BINDING_IS_REFUSED,
    UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks

if sys.version_info < (3, 11):
    from exceptiongroup import BaseExceptionGroup


@breaks(LONGER_LIMIT_IS_NOT_CUT_SHORT)
class FiveSecondsUnderneath(Client):
    """A layer below has a limit of its own for each request."""

    class exchange_type(Exchange):
        async def ask(self, method, params):
            with anyio.fail_after(5.0):
                return await super().ask(method, params)


@breaks(LONGER_LIMIT_IS_NOT_CUT_SHORT)
class ConnectsInFiveSeconds(Client):
    """The limit is for calls; to connect has another one."""

    async def connect(self):
        with anyio.fail_after(5.0):
            await super().connect()


@breaks(LONGER_LIMIT_IS_NOT_CUT_SHORT)
class LimitOfTheFirstServer(Client):
    """The limit is given to the first server; the second one has the default."""

    def enter(self):
        if self.shared.setdefault("first", self) is not self:
            self._settings = replace(self._settings, timeout=5.0)


@breaks(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL)
class ErrorIsAnEmptyResult(Client):
    """A call that fails gives an empty result."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            try:
                return await super().send(connection, plan, arguments)
            except (CallFailed, ConnectionLost):
                return {"content": []}


@breaks(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL)
class ErrorWithoutACause(Client):
    """Whatever fails below is told as one and the same."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            try:
                return await super().send(connection, plan, arguments)
            except (CallFailed, ConnectionLost):
                raise RuntimeError("the tool could not be used") from None


@breaks(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL)
class LossIsACancellation(Client):
    """A transport that breaks cancels whoever called."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            try:
                return await super().send(connection, plan, arguments)
            except ConnectionLost:
                raise asyncio.CancelledError from None


@breaks(STALE_BINDING_IS_REFUSED)
class StaleBindingIsSent(Client):
    """A bound tool is called by its name, whatever is listed now."""

    class caller_type(Caller):
        def definition_of_handle(self, tool):
            return tool.definition


@breaks(STALE_BINDING_IS_REFUSED)
class StaleBindingCallsAnother(Client):
    """A tool that is gone is taken for the one that is listed in its place."""

    async def call_tool(self, tool, arguments=None, **more):
        try:
            return await super().call_tool(tool, arguments, **more)
        except StaleTool:
            return await super().call_tool((await self.list_tools())[-1], arguments, **more)


@breaks(STALE_BINDING_IS_REFUSED)
class StaleBindingAnswersFromMemory(Client):
    """A tool that is gone answers what it answered last."""

    async def call_tool(self, tool, arguments=None, **more):
        last = self.__dict__.setdefault("last", {})
        name = getattr(tool, "name", tool)
        try:
            last[name] = await super().call_tool(tool, arguments, **more)
        except StaleTool:
            if name not in last:
                raise
        return last[name]


@breaks(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS)
class AnyTypeIsComplete(Client):
    """The type of a result is not read."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return CallResult.read({**raw, "resultType": "complete"})


class Asking(Rounds):
    """Rounds that go on although nobody can answer; by itself it breaks nothing."""

    async def drive(self, name, params):
        for _ in range(3):
            raw = await self.mended(params)
            if not self.asks(raw):
                return raw
            params = self.following(params, raw)
        return raw

    def following(self, params, raw):
        """The params of the next round."""
        return {**params, "requestState": raw["requestState"]}


@breaks(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS)
class AsksWithoutEnd(Client):
    """There is no limit to the rounds of one call."""

    class rounds_type(Asking):
        async def drive(self, name, params):
            while self.asks(raw := await super().drive(name, params)):
                params = self.following(params, raw)
            return raw


@breaks(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS)
class StateIsTrimmed(Client):
    """The state is trimmed on its way back."""

    class rounds_type(Asking):
        def following(self, params, raw):
            return {**params, "requestState": raw["requestState"].strip()}


@breaks(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS)
class StateRidesAlong(Client):
    """The last state is kept on the client, and sent with whatever is called."""

    def rounds_type(self, *parts):
        kept = self.__dict__.setdefault("kept", {})

        class Keeping(Asking):
            async def mended(self, params):
                raw = await super().mended({**params, **kept})
                if self.asks(raw):
                    kept["requestState"] = raw["requestState"]
                return raw

        return Keeping(*parts)


@breaks(CANCELLED_VERB_ENDS_AS_CANCELLED)
class CancellationIsAnAnswer(Client):
    """A call that is cancelled gives a result that says so."""

    async def call_tool(self, *given, **more):
        try:
            return await super().call_tool(*given, **more)
        except asyncio.CancelledError:
            return "cancelled"


@breaks(CANCELLED_VERB_ENDS_AS_CANCELLED)
class CancellationIsAFailure(Client):
    """Whatever ends a listing is told as a failure of it, a cancellation too."""

    async def list_tools(self):
        try:
            return await super().list_tools()
        except BaseException as error:
            raise RuntimeError("the tools could not be listed") from error


@breaks(CANCELLED_VERB_ENDS_AS_CANCELLED)
class CancellationIsOneOfAGroup(Client):
    """Whatever ends a call is raised in a group, a cancellation too."""

    async def call_tool(self, *given, **more):
        try:
            return await super().call_tool(*given, **more)
        except asyncio.CancelledError as error:
            raise BaseExceptionGroup("the call failed", [error]) from None


@breaks(CANCELLED_VERB_ENDS_AS_CANCELLED, own_timeout=None)
class CancelledCallWaitsOn(Client):
    """A call that is out is waited for, whoever gives it up, and there is no limit."""

    def enter(self):
        self._settings = replace(self._settings, timeout=None)

    async def call_tool(self, *given, **more):
        going = asyncio.ensure_future(super().call_tool(*given, **more))
        try:
            return await asyncio.shield(going)
        except asyncio.CancelledError:
            return await going
