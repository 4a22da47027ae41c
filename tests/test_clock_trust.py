"""A server in another thread that a loop in virtual time relies on, and does not wait for in vain."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_mcp_conformance.clock import VirtualLoop, run


class Shouting:
    """Listens in a thread of its own, and says in capitals what it is told, after a real moment."""

    def __init__(self) -> None:
        self.loop = asyncio.SelectorEventLoop()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen()
        self.address = self.socket.getsockname()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self.serve(),), daemon=True)
        self.over = asyncio.Event()

    async def serve(self) -> None:
        server = await asyncio.start_server(self.answer, sock=self.socket)
        await self.over.wait()
        server.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            time.sleep(0.001)  # noqa: ASYNC251 - the thread is at work
            writer.write(line.upper())
        writer.close()

    def start(self) -> None:
        self.thread.start()

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join(30)
        self.loop.close()


@pytest.fixture
def server() -> Iterator[Shouting]:
    server = Shouting()
    yield server
    server.end()


def this_loop(server: Shouting, *, trusted: bool) -> VirtualLoop:
    """The running loop; the server is started after it, as its thread must be to count at all."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    server.start()
    if trusted:
        loop.trust(server.address, server.thread)
    return loop


def test_what_it_was_asked_is_waited_for_and_takes_no_time(server: Shouting) -> None:
    async def main() -> float:
        loop = this_loop(server, trusted=True)
        reader, writer = await asyncio.open_connection(*server.address)
        for number in range(200):
            writer.write(f"word {number}\n".encode())
            answer = await asyncio.wait_for(reader.readline(), 1e-6)
            assert answer == f"WORD {number}\n".encode()
        writer.close()
        return loop.time()

    assert run(main) == 0.0


@pytest.mark.parametrize("trusted", [True, False])
def test_its_silence_is_not_waited_for_while_it_is_trusted(server: Shouting, trusted: bool) -> None:
    async def main() -> tuple[float, bool]:
        loop = this_loop(server, trusted=trusted)
        loop.grace = 30.0 if trusted else 0.02
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(b"word\n")
        await reader.readline()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(reader.readline(), 3600)
        writer.close()
        return loop.time(), loop.waited_in_vain

    assert run(main) == (3600.0, not trusted)


def test_the_silence_of_anybody_else_is_waited_for(server: Shouting) -> None:
    near, far = socket.socketpair()

    async def main() -> bool:
        loop = this_loop(server, trusted=True)
        loop.grace = 0.02
        reader, writer = await asyncio.open_connection(sock=near)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(), 10)
        writer.close()
        return loop.waited_in_vain

    with far:
        assert run(main)
