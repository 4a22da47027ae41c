"""An SDK session that forgets its checks; see `server.sdk_double.Forgetful`."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from jsonschema import ValidationError
from jsonschema.validators import validator_for
from mcp import ClientSession

__all__ = ["ForgetfulSession"]

NOTICE = "notifications/tools/list_changed"


class ForgetfulSession(ClientSession):
    """A real session, but for its checks.

    Args:
        read: The transport's read stream.
        write: The transport's write stream.
        auto_refresh: List unseen after each notice.
    """

    def __init__(self, read: Any, write: Any, *, auto_refresh: bool = False) -> None:
        super().__init__(read, write, message_handler=self._heard)
        self.checks: dict[str, Any] = {}
        self._auto_refresh = auto_refresh
        self._unseen: set[asyncio.Task[Any]] = set()

    async def __aexit__(self, *exc: Any) -> Any:
        for task in list(self._unseen):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        return await super().__aexit__(*exc)

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override, unused-ignore]
        """List, and replace the checks."""
        result = await super().list_tools(*args, **kwargs)
        self.checks.clear()
        for tool in result.tools:
            listed = tool.model_dump(by_alias=True)
            if (schema := listed.get("outputSchema")) is not None:
                kind = validator_for(schema)
                kind.check_schema(schema)
                self.checks[tool.name] = kind(schema)
        return result

    async def validate_tool_result(self, name: str, result: Any) -> None:
        """Judge a result by the check that is held now; where there is none it is good."""
        if (check := self.checks.get(name)) is None:
            return
        given = result.model_dump(by_alias=True).get("structuredContent")
        if given is None:
            raise RuntimeError(f"Tool {name} has an output schema but did not return structured content")
        try:
            check.validate(given)
        except ValidationError as error:
            raise RuntimeError(
                f"Invalid structured content returned by tool {name}: {error.message}"
            ) from None

    _validate_tool_result = validate_tool_result  # its name in mcp 1.x

    async def _heard(self, message: Any) -> None:
        root = getattr(message, "root", message)  # 1.x wraps the union in a root model
        if self._auto_refresh and getattr(root, "method", None) == NOTICE:
            task = asyncio.get_running_loop().create_task(self._list_unseen(), name="the SDK lists unseen")
            self._unseen.add(task)
            task.add_done_callback(self._unseen.discard)

    async def _list_unseen(self) -> None:
        with suppress(Exception):  # whoever did not ask is not told
            await self.list_tools()
