"""A session of mcp 1.x, which speaks the handshake era alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Literal

import anyio

from mcp_conformance_reference.errors import EraUnavailable
from mcp_conformance_reference.sdk import Era

__all__ = ["Session"]

_mcp: Any = import_module("mcp")
_types: Any = import_module("mcp.types")


class _ClientSession(_mcp.ClientSession):  # type: ignore[misc]
    """A session whose receive loop survives an answer that comes in the moment in which its caller gives up.

    The SDK's own dies of it, with `ClosedResourceError` from the stream that the caller has closed meanwhile,
    and takes every other request of the connection along.
    """

    async def _handle_response(self, message: Any) -> None:
        with suppress(anyio.ClosedResourceError):
            await super()._handle_response(message)


class _Outgoing:
    """A request or notification that goes out exactly as given: the SDK's own models drop None entries."""

    def __init__(self, method: str, params: dict[str, Any]) -> None:
        self._message = {"method": method, "params": params} if params else {"method": method}

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self._message


class _RawResult:
    """A result type that takes any result as it is."""

    @classmethod
    def model_validate(cls, result: Any) -> Any:
        return result


class Session:
    """See `sdk.SdkSession`."""

    def __init__(
        self,
        read: Any,
        write: Any,
        *,
        client_info: dict[str, Any],
        log_level: str | None,
        capabilities: dict[str, Any],
        input_schema_of: Callable[[str], Any],
    ) -> None:
        self._session = _ClientSession(read, write, client_info=_types.Implementation(**client_info))
        self.era: Literal["handshake", "modern"] = "handshake"
        self.announces_changes = False

    async def __aenter__(self) -> Any:
        return await self._session.__aenter__()

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._session.__aexit__(*exc)

    async def agree(self, era: Era) -> None:
        if era == "modern":
            raise EraUnavailable("the modern era needs mcp 2.x: install it, or ask for era='handshake'")
        result = await self._session.initialize()
        tools = result.capabilities.tools
        self.announces_changes = bool(tools is not None and tools.listChanged)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await self._session.send_request(_Outgoing(method, params), _RawResult)
        return result

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        await self._session.send_notification(_Outgoing(method, params))
