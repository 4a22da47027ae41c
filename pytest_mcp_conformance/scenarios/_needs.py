"""What a rule needs, and an adapter gives: claims are known at once, verbs when it is entered."""

from __future__ import annotations

from pytest_mcp_conformance.contract import CLAIMS, VERBS, Claims, Rule, Wrapper

__all__ = ["missing_claims", "missing_verbs"]


_GIVEN = {"memory": (), "http": ("http",), "loopback": ("http",), "stdio": ("stdio",), "sse": ()}
"""The needs that a way in meets."""


def missing_claims(rule: Rule, claims: Claims, way: str, shown: frozenset[str] = frozenset()) -> str:
    """The needs of `rule` that neither claims nor verbs nor the way in can meet; empty when there are none.

    Args:
        rule: The rule.
        claims: What the adapter promises.
        way: The way in.
        shown: Claims that it does not make and that the wire showed all the same.
    """
    lacking = [
        need
        for need in sorted(rule.needs)
        if not any(
            name in VERBS or name in shown or name in _GIVEN[way] or _made(name, claims)
            for name in need.split(" or ")
        )
    ]
    return ", ".join(lacking)


def missing_verbs(rule: Rule, claims: Claims, wrapper: Wrapper) -> str:
    """The needs of `rule` that can only be met by verbs, and are not; empty when there are none."""
    lacking = []
    for need in sorted(rule.needs):
        names = need.split(" or ")
        verbs = [name for name in names if name in VERBS]
        if (
            verbs
            and not any(wrapper.has(name) for name in verbs)
            and not any(_made(n, claims) for n in names)
        ):
            lacking.append(need)
    return ", ".join(lacking)


def _made(name: str, claims: Claims) -> bool:
    return name in CLAIMS and claims.makes(name)
