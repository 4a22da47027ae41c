"""Wrong wrappers: each a small change to one part of the reference, each caught by the rule it breaks."""

from __future__ import annotations

from tests.wrong import (
    caching,
    calls,
    checks,
    connections,
    definitions,
    forgetful,
    generations,
    keys,
    leases,
    ledger,
    lifetimes,
    marker,
    notices,
    pages,
    pagination,
    polling,
    pool,
    sharing,
    tenants,
    tools,
)
from tests.wrong._wrong import Wrong

__all__ = ["WRONG", "Wrong"]

WRONG: tuple[Wrong, ...] = tuple(
    found
    for area in (
        caching,
        lifetimes,
        pages,
        polling,
        pagination,
        notices,
        checks,
        calls,
        connections,
        tenants,
        tools,
        generations,
        definitions,
        sharing,
        marker,
        ledger,
        pool,
        keys,
        leases,
        forgetful,
    )
    for found in vars(area).values()
    if isinstance(found, Wrong)
)
"""Every wrong wrapper, in the order of the contract's areas."""
