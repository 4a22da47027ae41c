"""A session of mcp 2.x, which speaks both eras."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from pydantic import ValidationError

from mcp_conformance_reference.errors import EraUnavailable
from mcp_conformance_reference.sdk import Era, rpc_error

__all__ = ["Session"]

_session: Any = import_module("mcp.client.session")
_dispatcher: Any = import_module("mcp.shared.jsonrpc_dispatcher")
_inbound: Any = import_module("mcp.shared.inbound")
_types: Any = import_module("mcp_types")
_version: Any = import_module("mcp_types.version")


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
        self._client_info = client_info
        self._capabilities = capabilities
        self._log_level = log_level
        self._input_schema_of = input_schema_of
        self._dispatcher = _dispatcher.JSONRPCDispatcher(read, write)
        self._session = _session.ClientSession(
            dispatcher=self._dispatcher, client_info=_types.Implementation(**client_info)
        )
        self.era: Literal["handshake", "modern"] = "handshake"
        self.announces_changes = False

    async def __aenter__(self) -> Any:
        return await self._session.__aenter__()

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._session.__aexit__(*exc)

    async def agree(self, era: Era) -> None:
        if era == "handshake" or (era == "auto" and not await self._is_modern()):
            await self._session.initialize()
        elif era == "modern":
            await self._discover()
        self.era = "modern" if self._session.discover_result is not None else "handshake"
        tools = self._session.server_capabilities.tools
        self.announces_changes = bool(tools is not None and tools.list_changed)

    async def _is_modern(self) -> bool:
        """Probe with the SDK's own bound on a silent server; whatever is no modern answer means handshake."""
        try:
            await self._session.discover()
        except Exception as error:
            said = rpc_error(error)
            if said is not None and said.code == _types.UNSUPPORTED_PROTOCOL_VERSION:
                raise  # it is modern, and speaks none of our revisions
            if said is None and not isinstance(error, RuntimeError | ValidationError):
                raise  # an outage says nothing about the era
            return False
        return True

    async def _discover(self) -> None:
        """`server/discover` without the bound of `ClientSession.discover`, which would cut longer limits."""
        version = _version.LATEST_MODERN_VERSION
        try:
            raw = await self._send("server/discover", {}, version)
        except Exception as error:
            said = rpc_error(error)
            if said is None or said.code != _types.UNSUPPORTED_PROTOCOL_VERSION:
                raise
            offered = said.data.get("supported", []) if isinstance(said.data, dict) else []
            mutual = [known for known in _version.MODERN_PROTOCOL_VERSIONS if known in offered]
            if not mutual:
                raise EraUnavailable(
                    f"the server speaks {offered}, none of {list(_version.MODERN_PROTOCOL_VERSIONS)}: "
                    "ask for era='auto', or update the SDK"
                ) from error
            raw = await self._send("server/discover", {}, mutual[-1])
        if isinstance(ttl := raw.get("ttlMs"), int | float) and ttl < 0:
            raw = {**raw, "ttlMs": 0}  # the model would refuse what the specification says to read as zero
        self._session.adopt(_types.DiscoverResult.model_validate(raw))

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self._send(method, params, self._session.protocol_version)

    async def _send(self, method: str, params: dict[str, Any], version: str) -> dict[str, Any]:
        headers = {_inbound.MCP_PROTOCOL_VERSION_HEADER: version}
        if version in _version.MODERN_PROTOCOL_VERSIONS:
            params = {**params, "_meta": {**params.get("_meta", {}), **self._envelope(version)}}
            headers[_inbound.MCP_METHOD_HEADER] = method
            if isinstance(name := params.get(_inbound.NAME_BEARING_METHODS.get(method)), str):
                headers[_inbound.MCP_NAME_HEADER] = _inbound.encode_header_value(name)
                if method == "tools/call" and (schema := self._input_schema_of(name)) is not None:
                    annotated = _inbound.x_mcp_header_map(schema)
                    headers |= _inbound.mcp_param_headers(annotated, params.get("arguments", {}))
        # The client says by itself what it gives up: the same way for both majors, and never twice.
        options = {"cancel_on_abandon": False, "headers": headers}
        result: dict[str, Any] = await self._dispatcher.send_raw_request(method, params, options)
        return result

    def _envelope(self, version: str) -> dict[str, Any]:
        envelope = {
            _types.PROTOCOL_VERSION_META_KEY: version,
            _types.CLIENT_INFO_META_KEY: dict(self._client_info),
            _types.CLIENT_CAPABILITIES_META_KEY: self._capabilities,
        }
        if self._log_level is not None:
            envelope[_types.LOG_LEVEL_META_KEY] = self._log_level
        return envelope

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        await self._dispatcher.notify(method, params or None)
