"""The one place that knows the SDK's majors: a session over a stream pair, raw requests, raw results.

The SDK brings the handshake, the receive loop, the pairing of answers to requests, and the answers to what
servers ask of clients. Its tool methods are not used: `call_tool` lists by itself after a call, checks by
whatever listing came last, and loses the result when that listing fails; its models drop unknown fields and
let one malformed tool take down a whole listing. So requests go out raw and results come in raw:

* mcp 1.x: `ClientSession.send_request` with a request and a result type that pass plain dicts through.
* mcp 2.x: the same method checks results against the revision's models, whatever the result type. So the
  session is built on a `JSONRPCDispatcher` made here, which is what `ClientSession(dispatcher=)` is for, and
  requests go to that dispatcher's public `send_raw_request`. The `_meta` envelope and the HTTP headers of an
  era, which the session would add, are added here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, Protocol

__all__ = [
    "MAJOR",
    "Era",
    "Frame",
    "RpcError",
    "SdkSession",
    "frame_of",
    "header_fault",
    "is_session_lost",
    "open_session",
    "rpc_error",
]

Era = Literal["handshake", "modern", "auto"]

MAJOR: int = 2 if find_spec("mcp_types") else 1
"""The major version of the installed SDK."""

_errors: Any = import_module("mcp.shared.exceptions")
_SdkError: Any = getattr(_errors, "MCPError", None) or _errors.McpError


class Frame(NamedTuple):
    """One JSON-RPC message, as far as the client looks at it.

    A request has a method and an id, a notification a method alone, an answer an id alone; an answer that is
    an error has its code as well.
    """

    method: str | None
    id: str | int | None
    params: dict[str, Any]
    error_code: int | None = None


class RpcError(NamedTuple):
    """A JSON-RPC error as an answer carried it."""

    code: int
    message: str
    data: Any


class SdkSession(Protocol):
    """An SDK session over one stream pair. It is entered and left in one task, and used from any."""

    @property
    def era(self) -> Literal["handshake", "modern"]:
        """The era that was agreed on."""

    @property
    def announces_changes(self) -> bool:
        """Whether the server declared that it sends `tools/list_changed`."""

    async def __aenter__(self) -> Any:
        """Start reading."""

    async def __aexit__(self, *exc: Any) -> Any:
        """Stop reading."""

    async def agree(self, era: Era) -> None:
        """Agree on an era: `initialize` (handshake), `server/discover` (modern), or discover first (auto)."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and return the raw result. Nothing is said to the server if this is cancelled."""

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send one notification."""


def open_session(
    read: Any,
    write: Any,
    *,
    client_info: dict[str, Any],
    log_level: str | None,
    capabilities: dict[str, Any] | None = None,
    input_schema_of: Callable[[str], Any] = lambda name: None,
) -> SdkSession:
    """A session over one stream pair, not yet entered.

    Args:
        read: The stream of incoming messages, as the SDK's transports give it.
        write: The stream of outgoing messages.
        client_info: `name` and `version` of this client.
        log_level: In the modern era, ask for log messages of this level and above; None for none.
        capabilities: In the modern era, what this client says that it can answer.
        input_schema_of: Gives the input schema of a tool as it is known now, whose annotated arguments calls
            repeat in HTTP headers; None where none are annotated.
    """
    module = import_module(f"mcp_conformance_reference._sdk{MAJOR}")
    session: SdkSession = module.Session(
        read,
        write,
        client_info=client_info,
        log_level=log_level,
        capabilities=capabilities or {},
        input_schema_of=input_schema_of,
    )
    return session


def frame_of(item: Any) -> Frame | None:
    """Look at what the SDK's streams carry; None for an exception that a transport put there."""
    message = getattr(item, "message", None)
    if not hasattr(message, "__dict__"):
        return None
    fields = vars(message)  # a model is slow to say that it lacks an attribute
    fields = vars(fields["root"]) if "root" in fields else fields  # 1.x wraps the union in a root model
    params = fields.get("params")
    return Frame(
        method=fields.get("method"),
        id=fields.get("id"),
        params=params if isinstance(params, dict) else {},
        error_code=getattr(fields.get("error"), "code", None),
    )


def header_fault(input_schema: Any) -> str | None:
    """What is wrong with the `x-mcp-header` annotations of a modern tool, None where nothing is."""
    fault: str | None = import_module("mcp.shared.inbound").find_invalid_x_mcp_header(input_schema)
    return fault


def rpc_error(error: BaseException) -> RpcError | None:
    """The JSON-RPC error in an SDK exception, or None if it is another kind of failure."""
    if isinstance(error, _SdkError):
        held = error.error
        return RpcError(held.code, held.message, held.data)
    return None


def is_session_lost(said: RpcError) -> bool:
    """Whether the transport says by this error that the server has forgotten the session (HTTP 404)."""
    return said.message == "Session terminated"
