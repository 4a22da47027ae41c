"""One request at the engine, from whichever loop or thread its client runs in."""

from __future__ import annotations

import anyio

from pytest_mcp_conformance.server.ways._home import Home
from pytest_mcp_conformance.server.ways.http import HttpEngine, Reply, Request

__all__ = ["Visit"]


class Visit:
    """One request, its reply, and the bytes of its body. The coroutines run in the home of the script.

    Args:
        engine: What answers.
        home: Where it does.
        request: What is asked.
        limit: Seconds on the home's clock to wait for the reply, and for each piece of its body.
    """

    def __init__(self, engine: HttpEngine, home: Home, request: Request, limit: float | None = None) -> None:
        self._engine = engine
        self._home = home
        self._request = request
        self._limit = limit
        self._reply: Reply | None = None
        self._over = False

    async def reply(self) -> Reply:
        """The reply, its body still to come.

        Raises:
            TimeoutError: The limit passed.
            ConnectionRefusedError: Nobody takes the connection.
            ConnectionResetError: The connection was cut.
        """
        with anyio.fail_after(self._limit):
            reply = await self._engine.handle(self._request)
        self._reply = reply
        if self._over:
            reply.body.close()
        return reply

    async def piece(self) -> bytes | None:
        """The next bytes of the body; `None` at its end.

        Raises:
            TimeoutError: The limit passed.
            ConnectionResetError: The connection was cut.
        """
        if self._reply is None:
            return None
        with anyio.fail_after(self._limit), self._engine.until_closed():
            return await anext(self._reply.body, None)

    def leave(self) -> None:
        """The client reads no further. May be called from any thread, at any time, and more than once."""
        self._home.call(self._leave)

    def _leave(self) -> None:
        self._over = True
        if self._reply is not None:
            self._reply.body.close()
