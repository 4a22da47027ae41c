"""An address that keeps what it was asked."""

from __future__ import annotations

import asyncio
import socket
from urllib.request import ProxyHandler, build_opener

import pytest

from pytest_mcp_conformance import clock
from pytest_mcp_conformance.scenarios._sink import Sink


def asked_for(url: str) -> bytes:
    with build_opener(ProxyHandler({})).open(url, timeout=5) as answer:
        body: bytes = answer.read()
        return body


def test_keeps_the_first_line_of_each_request_and_answers() -> None:
    with Sink() as sink:
        assert sink.asked == []
        assert asked_for(sink.url) == b"{}"
        assert asked_for(sink.url) == b"{}"
    assert sink.asked == ["GET /schema.json HTTP/1.1"] * 2


def test_is_gone_once_its_block_is_left() -> None:
    with Sink() as sink:
        address = sink.url.removeprefix("http://").partition("/")[0].split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address[0], int(address[1])))


def test_lets_virtual_time_pass() -> None:
    async def waits() -> bool:
        with Sink():
            await asyncio.sleep(3600.0)
        return bool(asyncio.get_running_loop().waited_in_vain)  # type: ignore[attr-defined]

    assert not clock.run(waits)


def test_time_waits_for_an_answer() -> None:
    async def asks() -> tuple[bytes, float]:
        loop = asyncio.get_running_loop()
        with Sink() as sink:
            asking = asyncio.to_thread(asked_for, sink.url)
            return await asyncio.wait_for(asking, 0.001), loop.time()

    assert clock.run(asks) == (b"{}", 0.0)
