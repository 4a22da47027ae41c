"""HTTP without a socket: requests of httpx and httpx2 never leave the process.

While a server has an address here, every request of those two libraries is answered in the process: those to
the address by its script, in the loop of the scenario; all others are refused like a network that is down.
Other libraries, as aiohttp or requests, are not seen; for them there is `loopback`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio.lowlevel

from pytest_mcp_conformance.server.ways._home import Home
from pytest_mcp_conformance.server.ways._visit import Visit
from pytest_mcp_conformance.server.ways.http import DOMAIN, HttpEngine, Reply, Request

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["InProcess"]

_NOBODY = "nothing leaves the process, and no server of this scenario has that address"


class InProcess:
    """The address of one scripted server inside this process.

    Args:
        server: The script.
        place: A part of the host name, in the form of one: of each play its own, so that nothing that is kept
            by address in one play is met by the next.
        sse: Speak the transport before streamable HTTP.

    Attributes:
        engine: What answers, with its settings.
        refused: What was asked of other hosts while this had an address: method and URL.
    """

    def __init__(self, server: ScriptedServer, place: str = "", *, sse: bool = False) -> None:
        self.engine = HttpEngine(server, sse=sse)
        self.place = place
        self.refused: list[str] = []
        self.home: Home | None = None
        self._host = ""

    @property
    def url(self) -> str:
        """The address, one for every client of this server. Taken when it is first asked for.

        Raises:
            RuntimeError: No event loop runs: it is where the script is to answer.
        """
        if self.home is None:
            self.home = Home()
            self._host = _board.add(self)
        return f"http://{self._host}{self.engine.path}"

    @property
    def domain(self) -> str:
        """What the host name ends with."""
        return f"{self.place}.{DOMAIN}" if self.place else DOMAIN

    def dialled(self, principal: str | None, headers: Mapping[str, str]) -> None:
        """Learn the credentials that stand for a principal."""
        self.engine.dialled(principal, headers)

    def refuse(self, what: str) -> None:
        """Note what was asked of a host that is no server of this process, so that a failure can show it."""
        self.refused.append(what)
        self.engine.server.history.record(
            "astray", text=f"the wrapper under test asked for {what}: {_NOBODY}"
        )

    async def aclose(self) -> None:
        """Give the address up and cut what is still open."""
        self.engine.close()
        if self._host:
            _board.remove(self._host)
            self._host = ""


class _Board:
    """Every address of this process, and what is being read from them."""

    def __init__(self) -> None:
        self._ways: dict[str, InProcess] = {}
        self._reading: list[_Reading] = []
        self._hold: AbstractContextManager[None] | None = None

    def add(self, way: InProcess) -> str:
        """Give a way the first host name that is free, and hold the pools from the first one on."""
        if self._hold is None:
            from pytest_mcp_conformance.server.ways._pools import held_pools  # the extra `http`

            self._hold = held_pools(self)
            self._hold.__enter__()
        names = (f"server-{n}.{way.domain}" for n in range(1, len(self._ways) + 2))
        host = next(name for name in names if name not in self._ways)
        self._ways[host] = way
        return host

    def remove(self, host: str) -> None:
        """Forget a host name, and let the pools go with the last one."""
        del self._ways[host]
        if not self._ways and self._hold is not None:
            self._hold.__exit__(None, None, None)
            self._hold = None

    async def answer(self, core: Any, request: Any, pool: Any) -> Any:
        """As of any switchboard. In a cancelled scope nothing is sent, as over a real network."""
        await anyio.lowlevel.checkpoint()
        home, visit = self._visit(core, request, pool)
        try:
            with _errors_of(core, "Server disconnected without sending a response."):
                reply = await home.run(visit.reply)
        except BaseException:
            visit.leave()
            raise
        return self._response(core, reply, _AsyncReading(self, core, home, visit, pool))

    def answer_blocking(self, core: Any, request: Any, pool: Any) -> Any:
        """As of any switchboard."""
        home, visit = self._visit(core, request, pool)
        try:
            with _errors_of(core, "Server disconnected without sending a response."):
                reply = home.wait(visit.reply)
        except BaseException:
            visit.leave()
            raise
        return self._response(core, reply, _BlockingReading(self, core, home, visit, pool))

    def pool_closed(self, pool: Any) -> None:
        """As of any switchboard."""
        for reading in [reading for reading in self._reading if reading.pool is pool]:
            reading.leave()

    def stopped(self, reading: _Reading) -> None:
        """A response is read no further."""
        if reading in self._reading:
            self._reading.remove(reading)

    def _visit(self, core: Any, request: Any, pool: Any) -> tuple[Home, Visit]:
        url = request.url
        way = self._ways.get(url.host)
        if way is None or way.home is None:
            for concerned in self._concerned(url.host):
                concerned.refuse(f"{request.method} {str(url).partition('?')[0]}")
            raise core.ConnectError(
                f"{request.method} {url}: refused, nothing leaves the process; "
                f"the scripted servers are {', '.join(sorted(self._ways))}"
            )
        fields = [(name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers.raw]
        asked = Request(request.method, url.path, fields, request.content, source=pool)
        limit = request.extensions.get("timeout", {}).get("read")
        return way.home, Visit(way.engine, way.home, asked, limit)

    def _concerned(self, host: str) -> list[InProcess]:
        """Whose client asks for a host that is not there: nobody's where it is of a play that is over."""
        ours = host.endswith(f".{DOMAIN}")
        return [way for way in self._ways.values() if not ours or host.endswith(f".{way.domain}")]

    def _response(self, core: Any, reply: Reply, reading: _Reading) -> Any:
        self._reading.append(reading)
        fields = [(name.encode("ascii"), value.encode("latin-1")) for name, value in reply.fields]
        return core.Response(
            reply.status, headers=fields, content=reading, extensions={"http_version": b"HTTP/1.1"}
        )


_board = _Board()


class _Reading:
    """A body as a client reads it."""

    def __init__(self, board: _Board, core: Any, home: Home, visit: Visit, pool: Any) -> None:
        self.pool = pool
        self._board = board
        self._core = core
        self._home = home
        self._visit = visit

    def leave(self) -> None:
        """Read no further."""
        self._board.stopped(self)
        self._visit.leave()

    def _errors(self) -> AbstractContextManager[None]:
        return _errors_of(
            self._core,
            "peer closed connection without sending complete message body (incomplete chunked read)",
        )


class _AsyncReading(_Reading):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._errors():
            while (piece := await self._home.run(self._visit.piece)) is not None:
                yield piece

    async def aclose(self) -> None:
        self.leave()


class _BlockingReading(_Reading):
    def __iter__(self) -> Iterator[bytes]:
        with self._errors():
            while (piece := self._home.wait(self._visit.piece)) is not None:
                yield piece

    def close(self) -> None:
        self.leave()


@contextmanager
def _errors_of(core: Any, cut: str) -> Iterator[None]:
    """Say what goes wrong in the words of the client's library."""
    try:
        yield
    except ConnectionRefusedError as error:
        raise core.ConnectError(f"All connection attempts failed: {error}") from error
    except ConnectionResetError as error:
        raise core.RemoteProtocolError(cut) from error
    except TimeoutError as error:
        raise core.ReadTimeout(str(error)) from error
