"""Streamable HTTP through a real socket: the same engine under uvicorn, on 127.0.0.1 and a free port.

For clients that `in_process` does not see. The sockets live in a thread of their own; every request is
answered in the loop of the scenario, as over any other way in.

Nobody can refuse a connection before it is accepted here: a script that refuses hangs up on the request.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.clock import NeverQuiet, parties, settle
from pytest_mcp_conformance.contract import ConformanceError
from pytest_mcp_conformance.door import HOST, turned_away
from pytest_mcp_conformance.outside import under_way
from pytest_mcp_conformance.server.ways._home import Home
from pytest_mcp_conformance.server.ways._visit import Visit
from pytest_mcp_conformance.server.ways.http import PATH, HttpEngine, Request

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["Loopback"]


FOR_EVER = 86_400
"""Seconds that an idle connection is kept: a shorter timer in the thread would hold up virtual time."""

PATIENCE = 5.0
"""Real seconds for the thread to end."""

GLANCE = 0.05
"""Real seconds for the thread to say that nothing is under way; on an idle machine it takes 0.0002."""

Event = MutableMapping[str, Any]


class Loopback:
    """The address of one scripted server on this machine.

    Args:
        server: The script.

    Attributes:
        engine: What answers, with its settings.
    """

    def __init__(self, server: ScriptedServer) -> None:
        self.engine = HttpEngine(server)
        self._serving: _Serving | None = None

    @property
    def url(self) -> str:
        """The address, one for every client of this server. Taken when it is first asked for.

        Raises:
            RuntimeError: No event loop runs: it is where the script is to answer.
        """
        if self._serving is None:
            self._serving = _Serving(self.engine)
        return f"http://{HOST}:{self._serving.port}{PATH}"

    def dialled(self, principal: str | None, headers: Mapping[str, str]) -> None:
        """Learn the credentials that stand for a principal."""
        self.engine.dialled(principal, headers)

    async def aclose(self) -> None:
        """Cut what is still open, close every socket, and end the thread.

        Raises:
            ConformanceError: It did not end within five real seconds.
        """
        self.engine.close()
        serving, self._serving = self._serving, None
        if serving is not None:
            await serving.stop()


class _Serving:
    """A socket that listens, and the thread in which it is served."""

    def __init__(self, engine: HttpEngine) -> None:
        self._engine = engine
        self._home = Home()
        self._protocol = self._uvicorn()
        self._here = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        # asyncio has each piece leave at once only on a socket that names its protocol; one that the kernel
        # keeps back for some milliseconds would be overtaken by virtual time.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind((HOST, 0))
        self._socket.listen()
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.SelectorEventLoop()
        self._stop = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name=f"scripted server on {self.port}", daemon=True)
        self._thread.start()
        parties(self._here).add(self)

    # -- what the loop of the scenario asks, see `outside.Party` ---------------------------------------------

    @property
    def threads(self) -> Collection[threading.Thread]:
        """The one in which the sockets are served."""
        return (self._thread,)

    @property
    def children(self) -> Collection[int]:
        """None."""
        return ()

    @property
    def addresses(self) -> Collection[tuple[str, int]]:
        """Where it listens: no byte comes from there that the script has not said."""
        return ((HOST, self.port),)

    def idle(self) -> bool:
        """Whether the thread has passed on all that was written to it, and written all it was told."""
        quiet = threading.Event()

        async def look() -> None:
            with suppress(NeverQuiet):
                await settle()
                sockets = [each.transport.get_extra_info("socket") for each in self._state.connections]
                if not any(under_way(each.fileno()) for each in sockets):
                    quiet.set()

        def begin() -> None:
            if self._stop.is_set():
                quiet.set()
            else:
                self._looking = self._loop.create_task(look())

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # it has ended
            return True
        return quiet.wait(GLANCE)

    # -- its life ------------------------------------------------------------------------------------------

    def _uvicorn(self) -> Callable[[], asyncio.Protocol]:
        """What makes the protocol of each connection. uvicorn's own server looks round ten times a second."""
        from uvicorn import Config  # heavy, and only wanted here
        from uvicorn.protocols.http.h11_impl import H11Protocol
        from uvicorn.server import ServerState

        config = Config(
            self._answer,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=FOR_EVER,
        )
        config.load()
        self._state = ServerState()
        return lambda: H11Protocol(config, self._state, {}, self._loop)

    async def stop(self) -> None:
        """Close every socket, and wait for the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._ended.wait(), PATIENCE)
        self._thread.join(PATIENCE)
        parties(self._here).discard(self)
        if self._thread.is_alive():
            raise ConformanceError(f"the {self._thread.name} did not end within {PATIENCE:g} s")

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()
            self._home.call(self._ended.set)

    async def _serve(self) -> None:
        server = await self._loop.create_server(self._protocol, sock=self._socket)
        await self._stop.wait()
        server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        if self._looking is not None:
            self._looking.cancel()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=PATIENCE)

    async def _answer(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Event]],
        send: Callable[[Event], Awaitable[None]],
    ) -> None:
        """The ASGI application."""
        fields = [(name.decode("ascii"), value.decode("latin-1")) for name, value in scope["headers"]]
        body = b""
        more = True
        while more:
            event = await receive()
            if event["type"] == "http.disconnect":
                return
            body += event.get("body", b"")
            more = event.get("more_body", False)
        if refused := turned_away(dict(fields), self.port, "server"):
            await _respond(send, *refused)
            return
        visit = Visit(self._engine, self._home, Request(scope["method"], scope["path"], fields, body))
        talking = asyncio.ensure_future(self._talk(visit, send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({talking, gone}, return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and not talking.result():
                self._hang_up_on(scope["client"])
                await gone  # uvicorn answers by itself until it knows
        finally:
            visit.leave()
            for task in (talking, gone):
                task.cancel()
            await asyncio.wait({talking, gone})

    async def _talk(self, visit: Visit, send: Callable[[Event], Awaitable[None]]) -> bool:
        """Pass the reply on as it comes. False when the connection is to be cut."""
        try:
            reply = await self._home.run(visit.reply)
            await send(_start(reply.status, reply.fields))
            while (piece := await self._home.run(visit.piece)) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except ConnectionError:
            return False
        await send({"type": "http.response.body", "body": b""})
        return True

    def _hang_up_on(self, client: Any) -> None:
        for connection in list(self._state.connections):
            if connection.transport.get_extra_info("peername") == tuple(client):
                connection.transport.close()


async def _gone(receive: Callable[[], Awaitable[Event]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _respond(send: Callable[[Event], Awaitable[None]], status: int, text: str) -> None:
    await send(_start(status, [("content-type", "text/plain")]))
    await send({"type": "http.response.body", "body": text.encode()})


def _start(status: int, fields: Iterable[tuple[str, str]]) -> Event:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in fields]
    return {"type": "http.response.start", "status": status, "headers": headers}
