"""What differs between the two protocol eras on the wire: handshake, stamps, and where notices go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mcp_conformance.history import SUBSCRIPTION
from pytest_mcp_conformance.server.tools import ABSENT

__all__ = [
    "CAPABILITIES",
    "HANDSHAKE_METHOD",
    "HANDSHAKE_VERSIONS",
    "MODERN_VERSION",
    "SUBSCRIPTION",
    "UNSUPPORTED_VERSION",
    "asked_version",
    "discovery",
    "initialized",
    "stamped",
]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
UNSUPPORTED_VERSION = -32022
HANDSHAKE_METHOD = {"handshake": "initialize", "modern": "server/discover"}
"""The request with which a connection begins."""

CAPABILITIES: Mapping[str, Any] = {"tools": {"listChanged": True}, "logging": {}}
"""What a scripted server says that it can do, unless it is told otherwise."""

_SERVER = {"name": "scripted", "version": "1"}


def initialized(
    params: Mapping[str, Any], versions: tuple[str, ...], capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    """The result of `initialize`: the version asked for where the script speaks it, else its newest."""
    asked = params.get("protocolVersion")
    version = asked if asked in versions else versions[-1]
    return {"protocolVersion": version, "capabilities": dict(capabilities), "serverInfo": dict(_SERVER)}


def discovery(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `server/discover`."""
    return {
        "resultType": "complete",
        "supportedVersions": [MODERN_VERSION],
        "capabilities": dict(capabilities),
        "ttlMs": 0,
        "cacheScope": "private",
    }


def stamped(result: Mapping[str, Any], era: str, **hints: Any) -> dict[str, Any]:
    """`result` as the era frames it: modern results carry `resultType` and, where given, cache hints."""
    if era == "handshake":
        return dict(result)
    return {
        **result,
        "resultType": "complete",
        **{key: value for key, value in hints.items() if value is not ABSENT},
    }


def asked_version(params: Mapping[str, Any]) -> str:
    """The protocol version in a modern request's `_meta`, or empty."""
    meta = params.get("_meta")
    found = meta.get("io.modelcontextprotocol/protocolVersion") if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) else ""
