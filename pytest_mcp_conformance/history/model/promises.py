"""What a wrapper is held to, beside what every wrapper is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Promises", "promises_of"]


@dataclass(frozen=True)
class Promises:
    """The claims that the checker looks at. By default none is made, and nothing is excused."""

    reacts_to_list_changed: float | None = None
    caches_listings: bool = False
    clock: bool = False
    isolates_principals: bool = False
    redials: bool = False
    own_timeout: float | None = None
    multi_server: bool = False
    proxies: bool = False
    resends_calls: bool = False
    dials_per_operation: bool = False


def promises_of(claims: Mapping[str, Any]) -> Promises:
    """The promises in claims by their names, as an adapter makes them or a header has them.

    A claim whose value is of no use is one that is not made.
    """
    return Promises(
        reacts_to_list_changed=_seconds(claims.get("reacts_to_list_changed")),
        own_timeout=_seconds(claims.get("own_timeout")),
        **{name: bool(claims.get(name)) for name in _SAID},
    )


_SAID = (
    "caches_listings",
    "clock",
    "isolates_principals",
    "redials",
    "multi_server",
    "proxies",
    "resends_calls",
    "dials_per_operation",
)


def _seconds(given: Any) -> float | None:
    good = isinstance(given, int | float) and not isinstance(given, bool) and given >= 0
    return float(given) if good else None
