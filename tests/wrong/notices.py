"""Wrong wrappers of NTC."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import repeat

import anyio
from mcp_conformance_reference.errors import ConnectionLost
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.sdk import frame_of
from mcp_conformance_reference.subscription import Subscription
from mcp_conformance_reference.toollist import ToolList

from pytest_mcp_conformance.contract.notices import (
    ACKNOWLEDGED_FILTER_IS_CHECKED,
    END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST,
    EVERY_CONNECTION_IS_LISTENED_TO,
    NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS,
    NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST,
    NOTICE_REACHES_ITS_OWN_CLIENT,
    OTHER_NOTICES_DISTURB_NOTHING,
)
from pytest_mcp_conformance.server.ways._wire import decode
from tests.wrong._client import Client
from tests.wrong._wrong import breaks

KNOWN = (
    "notifications/tools/list_changed",
    "notifications/message",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/subscriptions/acknowledged",
)
"""The notices that a client for tools may want to know."""


@breaks(NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST)
class NoticeDuringACallIsDropped(Client):
    """A notice that comes while a call is out is taken for a part of it."""

    class notices_type(Notices):
        async def tools_changed(self, connection):
            if not any(request.method == "tools/call" for request in connection.exchange._requests):
                await super().tools_changed(connection)


@breaks(EVERY_CONNECTION_IS_LISTENED_TO)
class ListensToNothing(Client):
    """No stream is asked for; lifetimes are trusted as if one were."""

    class subscription_type(Subscription):
        async def begin(self):
            self._watched = "for ever"


@breaks(EVERY_CONNECTION_IS_LISTENED_TO)
class AsksForTheWrongNotices(Client):
    """The stream is asked for, and the tools are forgotten in its filter."""

    class subscription_type(Subscription):
        def filter(self):
            return {"notifications": {"promptsListChanged": True}}


@breaks(ACKNOWLEDGED_FILTER_IS_CHECKED)
class AnyAcknowledgmentIsAGrant(Client):
    """Once the stream is acknowledged a listing is kept until a notice comes, whatever was granted."""

    class subscription_type(Subscription):
        def grants(self, acknowledgement):
            return True

    class tool_list_type(ToolList):
        def fresh(self, listing):
            return True


@breaks(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST)
class TrustsTheListOverAGap(Client):
    """A kept list is served although its stream has ended."""

    class subscription_type(Subscription):
        def coverage(self):
            return "watched"


@breaks(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST)
class ListensOnlyOnce(Client):
    """A stream that has ended is not opened again."""

    class subscription_type(Subscription):
        def delays(self):
            return iter(())


@breaks(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST)
class ListensWithoutAPause(Client):
    """A stream that is refused is asked for again at once, for ever."""

    class subscription_type(Subscription):
        def delays(self):
            return repeat(0.01)


@breaks(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST)
class ListensByTheClock(Client):
    """A stream that is refused is asked for again every five seconds, for ever."""

    class subscription_type(Subscription):
        def delays(self):
            return repeat(5.0)


@breaks(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST)
class EndOfTheStreamEndsTheConnection(Client):
    """The end of the stream is taken for the end of everything."""

    class subscription_type(Subscription):
        def stream_ended(self, frame):
            super().stream_ended(frame)
            self._exchange.end(ConnectionLost("the listen stream ended"))


@breaks(NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS)
class ListsOnTheReceiveLoop(Client):
    """A notice is answered by a listing, awaited where answers are read."""

    class notices_type(Notices):
        async def tools_changed(self, connection):
            await connection.ask("tools/list", {})


@breaks(NOTICE_REACHES_ITS_OWN_CLIENT)
class NoticesGoToTheFirstClient(Client):
    """The handler of the first client is kept for all."""

    def notices_type(self, on_tools_changed, on_log):
        first = self.shared.setdefault("first", on_tools_changed)
        return Notices(first, on_log)


@breaks(OTHER_NOTICES_DISTURB_NOTHING)
class UnknownNoticeEndsTheConnection(Client):
    """A notice that is not known is taken for a broken connection."""

    class notices_type(Notices):
        async def hear(self, connection, frame):
            if frame.method not in KNOWN:
                connection.end(ConnectionLost(f"unknown: {frame.method}"))
            await super().hear(connection, frame)


@breaks(OTHER_NOTICES_DISTURB_NOTHING)
class LogMessagesAreWaitedFor(Client):
    """The receive loop hands a log message over, and waits until somebody takes it."""

    class notices_type(Notices):
        async def log_message(self, params):
            await anyio.sleep_forever()


@breaks(OTHER_NOTICES_DISTURB_NOTHING)
class AnswersWhatItDoesNotKnow(Client):
    """Every message that it does not know is answered with an error."""

    def enter(self):
        self.open_streams = self.answering

    @asynccontextmanager
    async def answering(self):
        async with self.dial.streams() as (read, write):
            yield Answering(read, write), write


class Answering:
    """A read stream that answers notices which are not known."""

    def __init__(self, read, write):
        self._read, self._write = read, write

    def __getattr__(self, name):
        return getattr(self._read, name)

    def __aiter__(self):
        return self

    async def __anext__(self):
        message = await self._read.__anext__()
        await self._look_at(message)
        return message

    async def receive(self):
        message = await self._read.receive()
        await self._look_at(message)
        return message

    async def __aenter__(self):
        await self._read.__aenter__()
        return self

    async def __aexit__(self, *exc):
        return await self._read.__aexit__(*exc)

    async def _look_at(self, message):
        frame = frame_of(message)
        if frame.id is None and frame.method not in KNOWN:
            error = {"code": -32601, "message": f"Method not found: {frame.method}"}
            await self._write.send(decode({"jsonrpc": "2.0", "id": 0, "error": error}))
