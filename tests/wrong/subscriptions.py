"""Wrong wrappers of NTC that mix up their listen streams."""

from __future__ import annotations

from mcp_conformance_reference.subscription import Subscription

from pytest_mcp_conformance.contract.notices import NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES
from tests.wrong._subscribing import ResourceStream, Subscribes
from tests.wrong._wrong import breaks


@breaks(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES)
class AnyEndEndsAll(Subscribes):
    """Where one stream has ended, nothing is heard of any more."""

    class stream_type(ResourceStream):
        def stream_ended(self, frame):
            super().stream_ended(frame)
            self._exchange.silent = True

    class notices_type(Subscribes.notices_type):
        async def tools_changed(self, connection):
            if not getattr(connection.exchange, "silent", False):
                await super().tools_changed(connection)


@breaks(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES)
class EndsByOrder(Subscribes):
    """An end is that of the stream that was opened last, whatever id it carries."""

    class subscription_type(Subscription):
        def stream_ended(self, frame):
            """Take it for the end of another one."""

        def delays(self):
            return iter(())
