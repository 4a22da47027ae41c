"""Listings of the modern era, and what they say of their lifetime."""

from __future__ import annotations

import pytest

from tests.sdk.clock import run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, MODERN_CLIENT, MODERN_SESSION, Way

every_modern_way = pytest.mark.parametrize("way", [MODERN_SESSION, MODERN_CLIENT])


@every_modern_way
def test_a_listing_that_says_nothing_of_its_lifetime_is_refused(way: Way) -> None:
    assert run(listing, way, lifetimes=True) == "['a']"
    assert "ttlMs" in run(listing, way, lifetimes=False), GONE


@every_modern_way
def test_a_lifetime_below_zero_is_borne(way: Way) -> None:
    assert run(listing, way, lifetimes=True, ttl_ms=-1) == "['a']"


async def listing(way: Way, **how: int) -> str:
    """The names that a listing gives, or what it raises."""
    async with way.connect(Peer([[tool("a")]], **how)) as user:
        try:
            return str(await user.names())
        except ValueError as error:  # as pydantic's errors are
            return str(error)
