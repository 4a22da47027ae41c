"""Where each notification goes. All of it runs in the receive loop, so all of it only takes note."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_conformance_reference.sdk import Frame
from mcp_conformance_reference.settings import LogMessage

if TYPE_CHECKING:
    from mcp_conformance_reference.connection import Connection

__all__ = ["Notices"]

_log = logging.getLogger(__name__)


class Notices:
    """The switch for what servers say unasked.

    Args:
        on_tools_changed: Called with the connection on which the server said that its tools changed.
        on_log: Called with each log message, or None.
    """

    def __init__(
        self,
        on_tools_changed: Callable[[Connection], None],
        on_log: Callable[[LogMessage], None] | None,
    ) -> None:
        self._on_tools_changed = on_tools_changed
        self._on_log = on_log

    async def hear(self, connection: Connection, frame: Frame) -> None:
        """Take note of one notification. Unknown ones, and ones that make no sense, disturb nothing."""
        try:
            if frame.method == "notifications/tools/list_changed":
                await self.tools_changed(connection)
            elif frame.method == "notifications/message":
                await self.log_message(frame.params)
            elif frame.method == "notifications/subscriptions/acknowledged":
                connection.subscription.acknowledged(frame)
            elif frame.method == "notifications/progress":
                connection.exchange.progress.heard(frame)
            elif frame.method == "notifications/cancelled":
                connection.subscription.cancelled(frame)
        except Exception:
            _log.exception("a notice of %s could not be used: %s", connection.settings.name, frame.method)

    async def tools_changed(self, connection: Connection) -> None:
        """The server's tools changed."""
        self._on_tools_changed(connection)

    async def log_message(self, params: dict[str, Any]) -> None:
        """The server logs."""
        if self._on_log is not None:
            logger = params.get("logger")
            self._on_log(
                LogMessage(
                    level=str(params.get("level")),
                    data=params.get("data"),
                    logger=logger if isinstance(logger, str) else None,
                )
            )
