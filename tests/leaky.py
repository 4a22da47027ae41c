"""Wrappers that leave something behind on purpose, one kind each, and innocent ones that only seem to."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

__all__ = ["INNOCENT", "LEAKS", "Keeper", "leaky"]


class Keeper:
    """What a wrapper opens and does not close. `with` closes it, so that the tests leave nothing."""

    def __init__(self, *, at_most=None):
        self.kept = []
        self._at_most = at_most
        self._ends = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self._ends:
            self._ends.pop()()

    def keep(self, thing, end):
        self.kept.append(thing)
        self._ends.append(end)
        return thing

    @property
    def has_enough(self):
        return self._at_most is not None and len(self.kept) >= self._at_most


def leaky(leak, keeper):
    """An adapter over the SDK's session that calls `leak(keeper, dial)` while it is open."""

    @adapter("leaky", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def play(dial):
        async with dial.session() as session:
            if not keeper.has_enough:
                await leak(keeper, dial)

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(getattr(tool, "name", tool), arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    return play


async def _thread(keeper, dial):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, name="poller", daemon=True)
    thread.start()
    keeper.keep(thread, lambda: (stop.set(), thread.join()))


async def _pool(keeper, dial):
    pool = keeper.keep(ThreadPoolExecutor(1, thread_name_prefix="helper"), lambda: pool.shutdown())
    pool.submit(int).result()


async def _listens(keeper, dial):
    server = socket.create_server(("127.0.0.1", 0))
    keeper.keep(server, server.close)


async def _connects(keeper, dial):
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    keeper.keep(near, lambda: (near.close(), far.close()))


async def _file(keeper, dial):
    file = open(__file__, encoding="utf-8")  # noqa: ASYNC230, SIM115 - left open on purpose
    keeper.keep(file, file.close)


async def _loop(keeper, dial):
    loop = asyncio.SelectorEventLoop()
    keeper.keep(loop, loop.close)


async def _child(keeper, dial):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)  # noqa: ASYNC220
    keeper.keep(child, lambda: child.communicate())


async def _task(keeper, dial):
    task = asyncio.create_task(asyncio.sleep(86_400), name="my health check")
    keeper.keep(task, lambda: None)


async def _connection(keeper, dial):
    streams = dial.streams()
    await streams.__aenter__()
    keeper.keep(streams, lambda: None)


LEAKS = {
    "thread": (_thread, "thread 'poller' in wait (threading.py:"),
    "pool": (_pool, "thread 'helper_0' in _worker (thread.py:"),
    "listening socket": (_listens, "a socket that listens on 127.0.0.1:"),
    "connected socket": (_connects, "a socket to 127.0.0.1:"),
    "file": (_file, f"the open file {__file__}"),
    "loop": (_loop, "an open eventpoll"),
    "child": (_child, f"({sys.executable} -c input())"),
    "task": (_task, "task 'my health check' waits in"),
    "connection": (_connection, "connection 2 is still open"),
}
"""What is left, and how the verdict names it."""


async def _shared_pool(keeper, dial):
    """One pool for the whole process, which grows by a thread with each play."""
    if not keeper.kept:
        keeper.keep(ThreadPoolExecutor(8), lambda: keeper.kept[0].shutdown())
    pool = keeper.kept[0]
    busy = threading.Barrier(len(pool._threads) + 2)
    for _ in range(len(pool._threads) + 1):
        pool.submit(busy.wait)
    busy.wait()


async def _replaced(keeper, dial):
    """One connection for the whole process, which is opened anew with each play."""
    keeper.__exit__()
    keeper.kept.clear()
    await _listens(keeper, dial)


class _Ring:
    """A pipe that nobody holds but itself."""

    def __init__(self):
        self.itself, self.ends = self, os.pipe()

    def __del__(self):
        for end in self.ends:
            os.close(end)


async def _garbage(keeper, dial):
    """What the garbage collector frees."""
    _Ring()


async def _ends_soon(keeper, dial):
    """A thread that ends a moment after the wrapper has been closed."""
    closing = threading.Event()
    thread = threading.Thread(target=closing.wait, args=(0.05,), daemon=True)
    thread.start()
    keeper.keep(thread, thread.join)


async def _worker(keeper, dial):
    """A job in the pool of the loop."""
    keeper.keep(await asyncio.to_thread(int), lambda: None)


INNOCENT = {
    "a pool of the process": (_shared_pool, None),
    "a connection that is replaced": (_replaced, None),
    "garbage": (_garbage, None),
    "a thread that ends soon": (_ends_soon, None),
    "a job of the loop": (_worker, None),
    # One is opened at the first meeting, and one in the play.
    **{f"one {name} for the whole process": (leak, 2) for name, (leak, _) in list(LEAKS.items())[:-2]},
}
"""What nobody may be accused of, and how many of it there are at most."""
