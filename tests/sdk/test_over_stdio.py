"""What the SDK's clients do with a child that dies, goes silent, talks nonsense or does not end.

The child is real and so is the time; no test looks at a clock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.sdk.users import GONE, Outcome, User, Way, every_way, first_only, second_only

CHILD = Path(__file__).with_name("stdio_child.py")
NONSENSE = "Failed to parse JSONRPC message from server"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the child is played with signals")


def child(*, encoding_error_handler: Any = "strict", **faults: Any) -> StdioServerParameters:
    arguments = [f"{fault}={value}" for fault, value in faults.items()]
    return StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", str(CHILD), *arguments],
        encoding_error_handler=encoding_error_handler,
    )


@asynccontextmanager
async def connected(way: Way, parameters: StdioServerParameters) -> AsyncIterator[User]:
    """A user of one of the SDK's clients, to whom the tools are known."""
    if way.client == "client":
        from mcp import Client

        async with Client(parameters, mode="auto" if way.era == "modern" else "legacy") as client:
            yield await _listed(User(client))
        return
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await (session.discover() if way.era == "modern" else session.initialize())
        yield await _listed(User(session))


async def _listed(user: User) -> User:
    await user.listing()
    return user


def play(scene: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    """Play a scene to its end, in a time that only a broken machine needs."""

    async def within_bounds() -> Any:
        with anyio.fail_after(60):
            return await scene(*args, **kwargs)

    return anyio.run(within_bounds)


def leaf(error: BaseException) -> BaseException:
    """The one error in groups of one."""
    while inside := getattr(error, "exceptions", None):
        [error] = inside
    return error


def gone(pid: int) -> bool:
    """Whether there is no such process any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("end", ["exit", "kill", "eof"])
@every_way
def test_a_call_that_is_out_ends_when_its_child_does_and_no_child_is_started_anew(way: Way, end: str) -> None:
    well, lost, later = play(call_then, way, end)
    assert well.accepted
    assert "Connection closed" in str(lost.error)
    assert not later.accepted


async def call_then(way: Way, end: str) -> tuple[Outcome, Outcome, Outcome]:
    """A call that is answered, one under which the child ends or closes its stdout, and one after that."""
    async with connected(way, child()) as user:
        return await user.call("well"), await user.call(end), await user.call("well")


@first_only
def test_in_the_first_major_a_call_on_a_lost_connection_fails_without_a_word() -> None:
    _, lost, later = play(call_then, Way("session", "handshake"), "exit")
    assert str(lost.error) == "Connection closed"
    assert (type(later.error), str(later.error)) == (anyio.ClosedResourceError, ""), GONE


@second_only
@every_way
def test_in_the_second_major_a_call_on_a_lost_connection_says_that_it_is_closed(way: Way) -> None:
    _, _, later = play(call_then, way, "exit")
    assert "Connection closed" in str(later.error)


@every_way
def test_text_on_stdout_that_is_no_message_is_logged_and_passed_over(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    assert all(called.accepted for called in play(call_each, way, "well", "well"))
    assert not [record for record in caplog.records if record.message == NONSENSE]
    assert all(called.accepted for called in play(call_each, way, "text", "well"))
    assert len([record for record in caplog.records if record.message == NONSENSE]) == 3


async def call_each(way: Way, *names: str, handler: str = "strict") -> list[Outcome]:
    async with connected(way, child(encoding_error_handler=handler)) as user:
        return [await user.call(name) for name in names]


@first_only
def test_in_the_first_major_one_byte_that_is_no_utf_8_ends_everything() -> None:
    way = Way("session", "handshake")
    assert all(called.accepted for called in play(call_each, way, "bytes", "well", handler="replace"))
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - a group, and nothing of the SDK's own
        play(call_each, way, "bytes")
    assert isinstance(leaf(raised.value), UnicodeDecodeError), GONE


@second_only
@every_way
def test_in_the_second_major_one_byte_that_is_no_utf_8_makes_the_client_deaf(way: Way) -> None:
    assert all(called.accepted for called in play(call_each, way, "bytes", "well", handler="replace"))
    outcomes: list[Outcome] = []
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - a group, and nothing of the SDK's own
        play(call_until_the_child_ends, way, outcomes)
    assert isinstance(leaf(raised.value), UnicodeDecodeError), GONE
    assert ["Connection closed" in str(called.error) for called in outcomes] == [True, True], GONE


async def call_until_the_child_ends(way: Way, outcomes: list[Outcome]) -> None:
    """The child answers a call behind the byte; a second call has it exit, with nothing left unsaid."""

    async def call(user: User, name: str) -> None:
        outcomes.append(await user.call(name))

    async with connected(way, child()) as user, anyio.create_task_group() as tasks:
        tasks.start_soon(call, user, "bytes")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(call, user, "exit")


@first_only
def test_in_the_first_major_a_child_that_reads_no_more_ends_everything() -> None:
    way = Way("session", "handshake")
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - a group, and nothing of the SDK's own
        play(call_each, way, "mute", "well")
    assert isinstance(leaf(raised.value), anyio.BrokenResourceError), GONE


@second_only
@every_way
def test_in_the_second_major_a_child_that_reads_no_more_ends_the_connection(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.05)
    well, later = play(call_each, way, "mute", "well")
    assert well.accepted
    assert "Connection closed" in str(later.error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there it may miss the word")
@first_only
def test_in_the_first_major_a_last_word_of_the_child_is_raised_at_whoever_leaves() -> None:
    way = Way("session", "handshake")
    play(pid_of_the_child, way, child())
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - a group, and nothing of the SDK's own
        play(pid_of_the_child, way, child(last="bye"))
    assert isinstance(leaf(raised.value), anyio.BrokenResourceError), GONE


@second_only
@every_way
def test_in_the_second_major_a_last_word_of_the_child_is_passed_over(way: Way) -> None:
    assert gone(play(pid_of_the_child, way, child(last="bye")))


@pytest.mark.parametrize(
    ("ends", "noted"),
    [
        ({}, ["end of stdin"]),
        ({"ends": "late"}, ["end of stdin", "SIGTERM"]),
        ({"ends": "killed"}, ["end of stdin", "SIGTERM"]),
    ],
    ids=["ends", "ignores the end of stdin", "ignores SIGTERM too"],
)
@every_way
def test_a_child_that_does_not_end_is_terminated_then_killed(
    way: Way, ends: dict[str, str], noted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for a child that ends by itself. What mcp 1.x waits for after SIGTERM cannot be shortened.
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.5 if ends else 30)
    monkeypatch.setattr("mcp.client.stdio.FORCE_KILL_TIMEOUT", 0.1, raising=False)
    notes = tmp_path / "notes"
    assert gone(play(pid_of_the_child, way, child(notes=notes, **ends)))
    assert notes.read_text().split("\n")[:-1] == noted


async def pid_of_the_child(way: Way, parameters: StdioServerParameters) -> int:
    async with connected(way, parameters) as user:
        called = await user.call("pid")
    return int(called.result.content[0].text)
