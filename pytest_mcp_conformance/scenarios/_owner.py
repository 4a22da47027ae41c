"""The life of one holder: one task enters the adapter, waits, and leaves it, as an SDK session asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from pytest_mcp_conformance.clock import describe_tasks
from pytest_mcp_conformance.contract import Adapter, AdapterError, ConformanceError, Wrapper
from pytest_mcp_conformance.contract._adapter import place_of
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._blocking import InThreads
from pytest_mcp_conformance.server import DEADLINE

__all__ = ["NeverOpened", "Opener", "Owner"]


class NeverOpened(ConformanceError):
    """A set-up did not end."""


class Opener:
    """One task that enters several adapters, one after the other, and leaves none."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[tuple[Coroutine[Any, Any, Any], asyncio.Future[Any]]] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._work(), name="opener")

    async def enter(self, entering: Coroutine[Any, Any, Any]) -> Any:
        """Run `entering` in the one task; gives what it gives, raises what it raises.

        Raises:
            NeverOpened: What was entered before has cancelled that task.
        """
        entered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((entering, entered))
        await asyncio.wait({entered, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not entered.done():
            entering.close()
            raise NeverOpened("the task that opens was cancelled by what it opened before")
        return entered.result()

    async def end(self) -> None:
        """End the task."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _work(self) -> None:
        while True:
            entering, entered = await self._asked.get()
            try:
                entered.set_result(await entering)
            except asyncio.CancelledError:
                entered.cancel()
                raise
            except BaseException as raised:
                entered.set_exception(raised)


class Owner:
    """Enters an adapter and leaves it, in a task of its own.

    Args:
        adapter: What is entered.
        arguments: What it is given.
        opener: Enters it in the place of the owner task, which leaves it all the same.

    Attributes:
        error: How the set-up failed, or what is wrong with the adapter.
        death: What the wrapper died of.
        trouble: What went wrong at the end, in words.
        wrapper: What the adapter yielded, once it has.
        patience: Seconds in which whatever ends by itself has ended: the wrapper's own limit, and more.
    """

    def __init__(self, adapter: Adapter, arguments: tuple[Any, ...], opener: Opener | None = None) -> None:
        self.adapter = adapter
        self._opener = opener
        self.error: BaseException | None = None
        self._given_up = False
        self.death: BaseException | None = None
        self.trouble: list[str] = []
        self.wrapper: Wrapper | None = None
        self.patience = max(DEADLINE, 2 * (adapter.claims.own_timeout or 0.0))
        self._arguments = arguments
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._owner = asyncio.get_running_loop().create_task(self._own(), name=f"owner of {adapter.name}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.adapter.name}>"

    async def opened(self) -> bool:
        """Wait for the set-up's end. False when it failed; then `error` says how."""
        within = 2 * self.patience
        waiting = asyncio.get_running_loop().create_task(self._ready.wait(), name="set-up")
        await asyncio.wait({waiting}, timeout=within)
        if not waiting.done():
            waiting.cancel()
            where = "; ".join(describe_tasks([self._owner]))
            await self._end_owner()
            self.error = NeverOpened(f"connect did not end within {within:g} s: {where}")
        return self.error is None

    @property
    def stays(self) -> bool:
        """True as long as nobody has closed it."""
        return not self._leave.is_set()

    @property
    def failure(self) -> str:
        """How the set-up failed, in words."""
        if isinstance(self.error, NeverOpened):
            return str(self.error)
        return "" if self.error is None else f"connect raised {describe(self.error)}"

    async def give_up(self) -> None:
        """Cancel the set-up, as a user does who will not wait any longer, and wait for its end.

        Where the set-up has ended, and dials by itself, that is the end of an adapter as any other.
        """
        self._given_up = True
        await self._end_owner()

    async def close(self) -> None:
        """Tear down. What goes wrong is written to `trouble`. A second time is nothing."""
        within = self.patience
        self._leave.set()
        await asyncio.wait({self._owner}, timeout=within)
        if not self._owner.done():
            where = "; ".join(describe_tasks([self._owner]))
            self.trouble.append(f"close did not end within {within:g} s: {where}")
            await self._end_owner()
        if isinstance(self.error, AdapterError):
            raise self.error

    async def _end_owner(self) -> None:
        for _ in range(3):
            self._owner.cancel()
            await asyncio.wait({self._owner}, timeout=60.0)
            if self._owner.done():
                return

    async def _own(self) -> None:
        """Enter the adapter, wait, and leave it: in this one task, as an SDK session asks for."""
        where = f"adapter {self.adapter.name!r} at {place_of(self.adapter.play)}"
        generator = self.adapter.play(*self._arguments)
        if self.adapter.blocks:
            generator = InThreads(generator)
        try:
            entering = generator.__anext__()
            wrapper = await (entering if self._opener is None else self._opener.enter(entering))
        except StopAsyncIteration:
            self.error = AdapterError(f"{where}: ended without a yield; yield one Wrapper(...)")
        except BaseException as raised:
            self.error = _of_the_adapter(raised) or raised
        else:
            if isinstance(wrapper, Wrapper):
                self.wrapper = wrapper
            else:
                kind = type(wrapper).__name__
                self.error = AdapterError(
                    f"{where}: yields a {kind}; yield Wrapper(list_tools=..., call_tool=...)"
                )
        self._ready.set()
        if self.wrapper is None:
            await _closed(generator)
            return
        try:
            await self._leave.wait()
        except asyncio.CancelledError as cancelled:
            await self._die(generator, cancelled)
            return
        try:
            await generator.__anext__()
        except StopAsyncIteration:
            pass
        except BaseException as raised:
            self.trouble.append(f"tear-down raised {describe(raised)}")
        else:
            self.error = AdapterError(
                f"{where}: yields twice; yield one Wrapper(...) between set-up and tear-down"
            )
            await _closed(generator)

    async def _die(self, generator: Any, cancelled: BaseException) -> None:
        """The wrapper's own task group was cancelled: the cancellation belongs inside the adapter."""
        try:
            await generator.athrow(cancelled)
        except StopAsyncIteration:
            pass
        except BaseException as death:
            self.death = None if self._given_up else death


async def _closed(generator: Any) -> None:
    """Close an adapter that is wrong: what it raises on its way out says nothing more."""
    try:
        await generator.aclose()
    except asyncio.CancelledError:
        raise
    except BaseException:
        pass


def _of_the_adapter(raised: BaseException) -> AdapterError | None:
    """The mistake of the adapter's in what its set-up raised, which a task group may have wrapped."""
    if isinstance(raised, AdapterError):
        return raised
    inner = getattr(raised, "exceptions", ())
    return next((found for each in inner if (found := _of_the_adapter(each)) is not None), None)
