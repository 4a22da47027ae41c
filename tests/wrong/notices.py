"""Wrong wrappers of NTC."""

from __future__ import annotations

from itertools import repeat

from mcp_conformance_reference.errors import ConnectionLost
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.subscription import Subscription

from pytest_mcp_conformance.contract.notices import (
    END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST,
    EVERY_CONNECTION_IS_LISTENED_TO,
    NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS,
    NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST,
    NOTICE_REACHES_ITS_OWN_CLIENT,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


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
