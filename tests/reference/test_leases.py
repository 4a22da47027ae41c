"""Listings on one connection: whatever the order of the answers, the versions decide."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from mcp_conformance_reference import Lease, LeaseReleased, ListingRecords, ListingUnusable

from tests.reference.virtual import play

NAMES = "abcd"
listings = some.lists(
    some.tuples(
        some.integers(0, 2),  # whose
        some.integers(0, 9),  # when its answer comes
        some.dictionaries(some.sampled_from(NAMES), some.integers(0, 99), max_size=4),
        some.sets(some.sampled_from(NAMES)),  # retained
    ),
    max_size=8,
)


class Connection:
    """As much of a connection as a lease needs."""

    lost = False

    def __init__(self) -> None:
        self.records = ListingRecords()
        self.holders: list[Lease] = []

    def lease(self) -> Lease:
        lease = Lease(self)  # type: ignore[arg-type]
        self.holders.append(lease)
        return lease

    def give_back(self, lease: Lease) -> None:
        self.records.leave(lease)

    async def left(self) -> None:
        pass


def entry(name: str, content: Any) -> dict[str, Any]:
    return {"name": name, "content": content}


@given(listings)
def test_the_latest_listing_decides_whatever_comes_last(told: Any) -> None:
    connection = Connection()
    legs = [connection.lease() for _ in range(3)]
    writers = [(legs[whose].open_listing(), *rest) for whose, *rest in told]
    written: list[Any] = []
    for writer, _, tools, retained in sorted(writers, key=lambda each: each[1]):
        writer([entry(*tool) for tool in tools.items()], written.append, retained)

    known: dict[str, Any] = {}
    mounted: dict[int, set[str]] = {}
    for whose, _, tools, retained in told:  # in the order of opening
        known.update({name: content for name, content in tools.items() if name not in retained})
        mounted[whose] = set(tools)
    names = set().union(*mounted.values())
    expected = {name: content for name, content in known.items() if name in names}
    assert {tool["name"]: tool["content"] for tool in (written[-1] if written else [])} == expected
    for name in NAMES:
        found = legs[0].definition(name)
        assert (found and found["content"]) == expected.get(name)


def test_a_tool_may_be_an_object_with_a_name() -> None:
    lease = Connection().lease()
    known = SimpleNamespace(name="a")
    lease.open_listing()([known], lambda tools: None)
    assert lease.definition("a") is known


def test_an_apply_that_always_raises_is_not_taken_for_a_bad_tool() -> None:
    lease = Connection().lease()

    def apply(tools: list[Any]) -> None:
        raise OSError("the client is gone")

    with pytest.raises(OSError, match="the client is gone"):
        lease.open_listing()([entry("a", 1)], apply)


def test_the_tools_that_cannot_be_written_are_named_and_the_cause_is_kept() -> None:
    lease = Connection().lease()

    def apply(tools: list[Any]) -> None:
        if any(tool["content"] is None for tool in tools):
            raise ValueError("no schema")

    tools = [entry("a", None), entry("b", 1), entry("c", None)]
    with pytest.raises(ListingUnusable, match="'a', 'c': cannot be written") as told:
        lease.open_listing()(tools, apply)
    assert told.value.tools == ("a", "c")
    assert isinstance(told.value.__cause__, ValueError)
    assert [lease.definition(name) for name in "abc"] == [None, entry("b", 1), None]


def test_a_rewrite_that_fails_at_a_release_fails_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def script() -> None:
        connection = Connection()
        first, second = connection.lease(), connection.lease()
        gone: list[bool] = []

        def apply(tools: list[Any]) -> None:
            if gone:
                raise OSError("the client is gone")

        first.open_listing()([entry("a", 1)], apply)
        gone.append(True)
        await first.release()
        assert "could not be written anew" in caplog.text
        assert second.definition("a") is None

    play(script)


def test_a_released_lease_gives_nothing() -> None:
    async def script() -> None:
        lease = Connection().lease()
        await lease.release()
        with pytest.raises(LeaseReleased):
            lease.client  # noqa: B018
        with pytest.raises(LeaseReleased):
            lease.open_listing()
        with pytest.raises(LeaseReleased):
            lease.definition("a")

    play(script)
