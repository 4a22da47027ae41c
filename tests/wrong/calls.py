"""Wrong wrappers of CALL."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from dataclasses import replace

import anyio
from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.errors import CallFailed, ConnectionLost
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.life import Life

from pytest_mcp_conformance.contract.calls import (
    EQUAL_CALLS_GET_THEIR_OWN_ANSWERS,
    FAILED_CALL_IS_NEVER_REDIRECTED,
    FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE,
    GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE,
    LIMIT_BOUNDS_THE_WHOLE_VERB,
    ONE_CALL_IS_SENT_ONCE,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
    TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(ONE_CALL_IS_SENT_ONCE)
class FailedCallIsSentAgain(Client):
    """Whatever goes wrong is tried again."""

    class caller_type(Caller):
        async def call(self, *asked, **how):
            try:
                return await super().call(*asked, **how)
            except Exception:
                return await super().call(*asked, **how)


@breaks(ONE_CALL_IS_SENT_ONCE)
class EqualCallIsNotSent(Client):
    """Results are kept by tool and arguments."""

    class caller_type(Caller):
        async def call(self, tool, arguments, *more):
            known = self.__dict__.setdefault("known", {})
            key = getattr(tool, "name", tool) + json.dumps(arguments, sort_keys=True)
            if key not in known:
                known[key] = await super().call(tool, arguments, *more)
            return known[key]


@breaks(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER)
class ListsBehindACall(Client):
    """After a call the tools are listed, and a failure of that is the call's."""

    class caller_type(Caller):
        async def call(self, tool, arguments, *more):
            result = await super().call(tool, arguments, *more)
            await self._tools.refresh()
            return result


@breaks(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS)
class AnswersInOrderOfAsking(Client):
    """The first answer is given to whoever asked first."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            waiting = self.__dict__.setdefault("waiting", [])
            mine = asyncio.get_running_loop().create_future()
            waiting.append(mine)
            answer = await super().send(connection, plan, arguments)
            waiting.pop(0).set_result(answer)
            return await mine


@breaks(GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE)
class GivesUpInSilence(Client):
    """A call that was given up is no longer waited for, and that is all."""

    class exchange_type(Exchange):
        def given_up(self, request):
            pass


@breaks(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE)
class OneFailureEndsAll(Client):
    """A call that fails or is given up takes its connection down."""

    class exchange_type(Exchange):
        def given_up(self, request):
            self._on_lost(ConnectionError("a call was given up"))


@breaks(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE)
class ErrorEndsTheConnection(Client):
    """An error answer is taken for a broken connection."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            try:
                return await super().send(connection, plan, arguments)
            except CallFailed:
                connection.lost_by(ConnectionError("an error answer"))
                raise


@breaks(LIMIT_BOUNDS_THE_WHOLE_VERB)
class LimitOfEachRequest(Client):
    """The limit bounds each request, not the verb."""

    class exchange_type(Exchange):
        async def ask(self, method, params):
            with anyio.fail_after(self._settings.timeout):
                return await super().ask(method, params)

    @contextmanager
    def verb(self, verb, timeout=None):
        if self._life is None:
            self._life = Life(self._open_streams, self._settings)
        yield self._life


@breaks(LIMIT_BOUNDS_THE_WHOLE_VERB)
class NoLimit(Client):
    """There is a limit, and nobody applies it."""

    @contextmanager
    def verb(self, verb, timeout=None):
        if self._life is None:
            self._life = Life(self._open_streams, self._settings)
        yield self._life


@breaks(LIMIT_BOUNDS_THE_WHOLE_VERB)
class LimitOfACallIsIgnored(Client):
    """A limit of one call is taken, and the client's is applied."""

    async def call_tool(self, *given, timeout=None, **more):
        return await super().call_tool(*given, **more)


@breaks(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
class FailureOfAToolIsASuccess(Client):
    """The flag isError is lost on the way."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return replace(super().read(plan, raw), is_error=False)


@breaks(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
class FailureOfAToolHasNoText(Client):
    """A tool that failed is shown as failed, and what it said is lost."""

    class caller_type(Caller):
        def read(self, plan, raw):
            result = super().read(plan, raw)
            return replace(result, content=[]) if result.is_error else result


@breaks(FAILED_CALL_IS_NEVER_REDIRECTED)
class FailedCallGoesToTheNext(Client):
    """A call that fails is tried on the next client that is there."""

    def enter(self):
        self.shared.setdefault("clients", []).append(self)

    async def call_tool(self, tool, arguments=None, **more):
        try:
            return await super().call_tool(tool, arguments, **more)
        except (CallFailed, ConnectionLost):
            for other in self.shared["clients"]:
                if other is not self:
                    return await Client.call_tool(other, getattr(tool, "name", tool), arguments, **more)
            raise
