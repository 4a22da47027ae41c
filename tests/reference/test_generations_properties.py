"""The count of list requests against a model of it, and its drops."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_conformance_reference import ListingGenerations, listings_of
from mcp_conformance_reference.generations import _counts

from tests.reference.virtual import play, settle

unhurried = settings(deadline=None, database=None, max_examples=100)

steps = st.one_of(
    st.just(("send",)),
    st.just(("dropped",)),
    st.tuples(st.sampled_from(["answer", "error", "cancel"]), st.integers(0, 9)),
)


@unhurried
@given(st.lists(steps, max_size=25))
def test_the_latest_is_what_settled_last_while_nothing_is_out(script: list[tuple[Any, ...]]) -> None:
    async def run() -> None:
        count = ListingGenerations()
        out: list[tuple[asyncio.Future[str], asyncio.Task[Any]]] = []
        settled = 0
        for step in script:
            if step[0] == "send":
                answer = asyncio.get_running_loop().create_future()
                out.append((answer, asyncio.ensure_future(count.ask(lambda answer=answer: answer))))
            elif step[0] == "dropped":
                count.dropped()
                settled += 1
            elif out:
                answer, asked = out.pop(step[1] % len(out))
                settled += 1
                if step[0] == "answer":
                    answer.set_result("listed")
                    assert (await asked).generation == settled
                elif step[0] == "error":
                    answer.set_exception(error := ValueError("no"))
                    with pytest.raises(ValueError, match="no") as raised:
                        await asked
                    assert raised.value is error
                else:
                    asked.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await asked
            await settle()
            latest = [each for each in range(-1, settled + 2) if count.is_latest(each)]
            assert latest == ([settled] if settled and not out else [])
        for _, asked in out:
            asked.cancel()

    play(run)


def test_a_drop_ends_the_latest_without_a_request() -> None:
    async def run() -> None:
        count = ListingGenerations()
        settled = await count.ask(lambda: asyncio.sleep(0))
        assert count.is_latest(settled.generation)
        count.dropped()
        assert not count.is_latest(settled.generation)

    play(run)


def test_the_table_of_counts_holds_nothing_of_the_dead() -> None:
    class Client:
        pass

    clients = [Client() for _ in range(10)]
    counts = [listings_of(each) for each in clients]
    assert [listings_of(each) for each in clients] == counts
    keys = [id(each) for each in clients]
    del clients
    gc.collect()
    assert not [key for key in keys if key in _counts and _counts[key][0]() is None]
    with pytest.raises(TypeError):
        listings_of(1)
