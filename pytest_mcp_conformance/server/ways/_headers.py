"""The headers of the modern era that repeat what the body says, held against it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.server.eras import MODERN_VERSION, UNSUPPORTED_VERSION
from pytest_mcp_conformance.server.ways._messages import Refusal, Request, error_reply
from pytest_mcp_conformance.server.ways._streams import Message

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["HEADER_MISMATCH", "checked"]

HEADER_MISMATCH = -32020
INVALID_PARAMS = -32602

_VERSION = "io.modelcontextprotocol/protocolVersion"
_NEEDED = (_VERSION, "io.modelcontextprotocol/clientCapabilities")
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_DECIMAL = re.compile(r"(-?\d+)(\.0+)?")


def checked(request: Request, message: Message, server: ScriptedServer, principal: str | None) -> None:
    """Hold the headers of a modern request against its body. An `initialize` is left to the script.

    Raises:
        Refusal: The metadata of the body is missing, the two do not match, or the version is not spoken.
    """
    if message["method"] == "initialize":
        return
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    missing = [key for key in _NEEDED if not isinstance(meta, Mapping) or key not in meta]
    if missing or not isinstance(params, Mapping) or not isinstance(meta, Mapping):
        raise _refused(message, INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    wanted = {"mcp-protocol-version": meta[_VERSION], "mcp-method": message["method"]}
    named_by = _NAMED_BY.get(message["method"])
    if named_by is not None and named_by in params:
        wanted["mcp-name"] = params[named_by]
    for header, value in wanted.items():
        found = request.headers.get(header)
        if found is None or _decoded(found) != value:
            raise _mismatch(message, header, found, value)
    if meta[_VERSION] != MODERN_VERSION:
        spoken = {"supported": [MODERN_VERSION], "requested": meta[_VERSION]}
        raise _refused(message, UNSUPPORTED_VERSION, "Unsupported protocol version", spoken)
    if message["method"] == "tools/call":
        definition = server.definition(str(params.get("name")), principal)
        _check_arguments(request, message, definition, params.get("arguments") or {})


def _check_arguments(
    request: Request, message: Message, definition: Mapping[str, Any] | None, arguments: Mapping[str, Any]
) -> None:
    schema = definition.get("inputSchema") if definition is not None else None
    for path, token in _mirrored(schema):
        header = f"mcp-param-{token.lower()}"
        found, value = request.headers.get(header), _at(arguments, path)
        if value is None and found is None:
            continue
        if value is None or found is None or not _same(_decoded(found), value):
            raise _mismatch(message, header, found, value)


def _mirrored(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each argument that a header repeats: where it is in the arguments, and the end of the header's name."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(inner, Mapping):
            token = inner.get("x-mcp-header")
            if isinstance(token, str) and inner.get("type") in ("string", "integer", "boolean"):
                yield (*path, name), token
            yield from _mirrored(inner, (*path, name))


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _same(found: str | None, value: Any) -> bool:
    if isinstance(value, bool):
        return found == ("true" if value else "false")
    if isinstance(value, int):
        number = _DECIMAL.fullmatch(found or "")
        return number is not None and int(number[1]) == value
    return found == str(value)


def _decoded(value: str) -> str | None:
    """What a header says, out of its base64 where it is in such; `None` where that cannot be read."""
    encoded = _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _mismatch(message: Message, header: str, found: str | None, value: Any) -> Refusal:
    text = f"Header mismatch: {header} is {found!r}, and the body says {value!r}"
    return _refused(message, HEADER_MISMATCH, text)


def _refused(message: Message, code: int, text: str, data: Any = None) -> Refusal:
    return Refusal(error_reply(400, message["id"], code, text, data))
