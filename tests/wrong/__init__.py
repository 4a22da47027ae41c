"""Wrong wrappers: each a small change to one part of the reference, each caught by the rule it breaks."""

from __future__ import annotations

from tests.wrong import (
    answers,
    caching,
    call_ends,
    call_ids,
    call_meta,
    calls,
    checks,
    children,
    closing,
    connections,
    credentials,
    definitions,
    dials,
    entries,
    fallback,
    forgetful,
    generations,
    http_calls,
    http_errors,
    http_headers,
    http_resuming,
    http_sessions,
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
    refetches,
    schemas,
    sharing,
    subscriptions,
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
        refetches,
        subscriptions,
        checks,
        answers,
        schemas,
        calls,
        call_ids,
        call_meta,
        call_ends,
        connections,
        dials,
        fallback,
        closing,
        http_calls,
        http_sessions,
        http_errors,
        http_resuming,
        http_headers,
        children,
        tenants,
        credentials,
        tools,
        entries,
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
