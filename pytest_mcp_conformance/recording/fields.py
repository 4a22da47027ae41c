"""Header fields of HTTP, on their way from one hop to the next."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Fields", "fields_of", "joined", "without_hops"]

Fields = list[tuple[str, str]]

_NOT_PASSED_ON = frozenset(
    {
        "accept-encoding",  # what is compressed cannot be read on its way
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def fields_of(raw: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Header fields as text, their names in lower case."""
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw]


def joined(fields: Fields) -> dict[str, str]:
    """Header fields by their names; the values of one name are joined by commas."""
    joined: dict[str, str] = {}
    for name, value in fields:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def without_hops(fields: Fields, kept: Iterable[str] = ()) -> Fields:
    """The header fields that are not about one hop."""
    named = {
        each.strip().lower() for name, value in fields if name == "connection" for each in value.split(",")
    }
    left_out = (_NOT_PASSED_ON | named) - {*kept}
    return [(name, value) for name, value in fields if name not in left_out]
