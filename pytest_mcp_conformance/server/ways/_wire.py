"""Plain dicts to the SDK's messages and back. The one place of the server that knows the SDK's majors."""

from __future__ import annotations

from typing import Any

from mcp.shared.message import SessionMessage

__all__ = ["decode", "encode"]

try:
    from mcp_types import jsonrpc_message_adapter
except ImportError:  # mcp 1.x
    from mcp.types import JSONRPCMessage

    def decode(message: dict[str, Any]) -> Any:
        """A frame as the SDK reads it."""
        return SessionMessage(JSONRPCMessage.model_validate(message))  # type: ignore[attr-defined, unused-ignore]

    def encode(message: Any) -> dict[str, Any]:
        """A frame as the SDK wrote it."""
        dumped: dict[str, Any] = message.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

else:

    def decode(message: dict[str, Any]) -> Any:
        """A frame as the SDK reads it."""
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))

    def encode(message: Any) -> dict[str, Any]:
        """A frame as the SDK wrote it."""
        dumped: dict[str, Any] = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return dumped
