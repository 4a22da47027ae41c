"""What stands between a wrong wrapper's SDK and its transport, for faults in the frames themselves."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio

from pytest_mcp_conformance.server.ways._wire import decode, encode
from tests.wrong._client import Client

__all__ = ["ByWire", "Wire"]


class Wire:
    """Hands every frame on as it is. One for each connection; frames are plain dicts."""

    async def out(self, frame):
        """Send a frame of the client."""
        await self.send(frame)

    async def back(self, frame):
        """The frames that the client gets for one of the server."""
        return [frame]

    async def leave(self):
        """The connection is left."""

    async def send(self, frame):
        """Write a frame."""
        await self._write.send(decode(frame))


class ByWire(Client):
    """A client whose connections have a `wire_type` between the SDK and the transport."""

    wire_type = Wire

    def enter(self):
        streams, make = self.open_streams, self.wire_type

        @asynccontextmanager
        async def rewired():
            async with streams() as (read, write):
                wire = make()
                wire._write = write
                yield _Read(read, wire), _Write(write, wire)

        self.open_streams = rewired


class _End:
    def __init__(self, stream, wire):
        self._stream = stream
        self._wire = wire

    def __getattr__(self, name):
        return getattr(self._stream, name)

    async def __aenter__(self):
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc):
        return await self._stream.__aexit__(*exc)


class _Read(_End):
    def __init__(self, stream, wire):
        super().__init__(stream, wire)
        self._ready = []

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self):
        while not self._ready:
            self._ready += await self._wire.back(encode(await self._stream.receive()))
        return decode(self._ready.pop(0))


class _Write(_End):
    async def __aexit__(self, *exc):
        with anyio.CancelScope(shield=True):
            await self._wire.leave()
        return await super().__aexit__(*exc)

    async def send(self, item):
        await self._wire.out(encode(item))
