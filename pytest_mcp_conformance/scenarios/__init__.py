"""The catalogue: one scripted conversation after the other, and what each proves."""

from __future__ import annotations

from pytest_mcp_conformance.scenarios import (
    answers,
    caching,
    call_ends,
    call_ids,
    call_meta,
    calls,
    checks,
    children,
    claims,
    closing,
    connections,
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
    overtaking,
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
from pytest_mcp_conformance.scenarios._scenario import Scenario, scenario

__all__ = ["CATALOGUE", "Scenario", "scenario"]

CATALOGUE: tuple[Scenario, ...] = (
    *claims.BY_CLAIM.values(),
    *(
        found
        for area in (
            caching,
            overtaking,
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
        if isinstance(found, Scenario)
    ),
)
"""Every scenario: the probes of claims first, then the areas in the order of the contract."""
