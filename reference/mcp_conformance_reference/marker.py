"""A marker that ties one call to the requests which an SDK sends for it, whatever the SDK copies on the way.

The call puts its marker into the request's own `_meta` (`mark_params`). The SDK carries `_meta` through to
the transport, as it is or as a copy, and there the marker is taken out again (`take_marker`) before anything
is serialised: the server receives what it always did. An object's identity does not outlive a copy; a string
inside it does. An SDK that rebuilds the params without `_meta` delivers nothing, and the request matches no
call: nothing is ever guessed from content.

Source: the seed callMarker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["CALL_MARKER_KEY", "GIVEN_META_MARKER_KEY", "TakenMarker", "mark_params", "take_marker"]

CALL_MARKER_KEY: Final = "mcp-conformance-reference/call-ref"
"""The `_meta` key of a marker in a `_meta` that the marker alone brought. Never sent.

Source: the seed callMarker.
"""

GIVEN_META_MARKER_KEY: Final = "mcp-conformance-reference/call-ref-in-given-meta"
"""The `_meta` key of a marker in a `_meta` that the caller gave: that one stays, even empty. Never sent."""


@dataclass(frozen=True)
class TakenMarker:
    """What `take_marker` found.

    Attributes:
        marker: The marker, None where the message carried none.
        message: The message without the marker; the very message where it carried none.

    Source: the seed callMarker.
    """

    marker: str | None
    message: Any


def mark_params(params: Mapping[str, Any], marker: str) -> dict[str, Any]:
    """Add a marker to the params of a request.

    Args:
        params: The params, which are not changed, and neither is their `_meta`. A `_meta` of None is none.
        marker: Any text.

    Returns:
        New params, every other key in its place. A `_meta` that was absent is added after the other keys.

    Raises:
        ValueError: `_meta` is no object, or holds a key that is reserved for the marker. Send nothing then:
            to overwrite the value would lose it, and to pass it on could match another call.

    Source: the seed callMarker.
    """
    given = params.get("_meta")
    if given is None:
        return {**params, "_meta": {CALL_MARKER_KEY: marker}}
    if not isinstance(given, Mapping):
        raise ValueError(f"_meta is {given!r}, not an object: give a dict, or leave it out")
    for reserved in (CALL_MARKER_KEY, GIVEN_META_MARKER_KEY):
        if reserved in given:
            raise ValueError(f"the _meta key {reserved!r} is reserved: choose a key of your own")
    return {**params, "_meta": {**given, GIVEN_META_MARKER_KEY: marker}}


def take_marker(message: Any) -> TakenMarker:
    """Take the marker out of a JSON-RPC message.

    Args:
        message: Anything; only an object whose `params` hold a `_meta` with a text under one of the marker's
            keys carries a marker. It is not changed.

    Returns:
        The marker and the message as it was before `mark_params`: a `_meta` that the marker brought and that
        nobody else has filled since is gone, and every other entry is in its place.

    Source: the seed callMarker.
    """
    params = message.get("params") if isinstance(message, Mapping) else None
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    if isinstance(params, Mapping) and isinstance(meta, Mapping):
        for key in (GIVEN_META_MARKER_KEY, CALL_MARKER_KEY):
            marker = meta.get(key)
            if isinstance(marker, str):
                left = {name: value for name, value in meta.items() if name != key}
                bare = _with_meta(params, left if left or key == GIVEN_META_MARKER_KEY else None)
                return TakenMarker(marker, {**message, "params": bare})
    return TakenMarker(None, message)


def _with_meta(params: Mapping[str, Any], meta: dict[str, Any] | None) -> dict[str, Any]:
    """Params with another `_meta` in the place of the one before, or without any."""
    if meta is None:
        return {name: value for name, value in params.items() if name != "_meta"}
    return {**params, "_meta": meta}
