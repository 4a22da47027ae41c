"""A client in front of a proxy: it talks to an ASGI app in this process, in the handshake era."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._http import SESSION, VERSION
from pytest_mcp_conformance.server import DEADLINE, NotReached
from pytest_mcp_conformance.server.eras import HANDSHAKE_VERSIONS
from pytest_mcp_conformance.server.ways.http import PATH

__all__ = ["Front", "front_of"]

HOST = "localhost:8931"
"""Where the front end is said to be; nothing listens there."""

App = Callable[..., Any]


class Front:
    """One user of the front end.

    Args:
        app: What is served there.
        headers: Ride on every request.

    Attributes:
        session: The id of its session; empty where the front end gives none.
    """

    def __init__(self, app: App, headers: Mapping[str, str]) -> None:
        self.session = ""
        self._app = app
        self._headers = {
            **headers,
            "Host": HOST,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._asked = 0

    async def begin(self) -> None:
        """Shake hands.

        Raises:
            NotReached: The front end refuses that.
        """
        version = HANDSHAKE_VERSIONS[-1]
        info = {"name": "front", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        agreed = (await self.ask("initialize", params)).get("result") or {}
        self._headers[VERSION] = agreed.get("protocolVersion", version)
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Ask one request; gives the message that answers it.

        Raises:
            NotReached: There was no such message.
        """
        self._asked += 1
        number = f"front-{self._asked}"
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}
        status, body = await self._post(asked)
        for message in _messages(body):
            if message.get("id") == number and "method" not in message:
                return message
        raise NotReached(f"the front end answers {method} with HTTP {status} and {body[:200]!r}")

    async def _post(self, message: Mapping[str, Any]) -> tuple[int, str]:
        body = json.dumps(message).encode()
        fields = {**self._headers, **({SESSION: self.session} if self.session else {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": PATH,
            "raw_path": PATH.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
            "client": ("127.0.0.1", 1),
            "server": tuple(HOST.split(":")),
        }
        sent: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        came: list[Mapping[str, Any]] = []
        complete = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if sent:
                return sent.pop()
            await complete.wait()
            return {"type": "http.disconnect"}

        async def send(event: Mapping[str, Any]) -> None:
            came.append(event)
            if event["type"] == "http.response.body" and not event.get("more_body", False):
                complete.set()

        try:
            await asyncio.wait_for(self._app(scope, receive, send), DEADLINE)
        except (asyncio.TimeoutError, TimeoutError):
            raise NotReached(f"the front end does not answer within {DEADLINE:g} s") from None
        except Exception as raised:
            raise NotReached(f"the front end raised {describe(raised)}") from raised
        for event in came:
            for name, value in event.get("headers", ()):
                if name.decode().lower() == SESSION:
                    self.session = value.decode()
        status = next((event["status"] for event in came if "status" in event), 0)
        return status, b"".join(event.get("body", b"") for event in came).decode()


@asynccontextmanager
async def front_of(app: App, headers: Mapping[str, str]) -> AsyncIterator[Front]:
    """A user of the front end, past its handshake, while the app is up.

    Raises:
        NotReached: The front end does not start, or refuses its user.
    """
    begins: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    said: asyncio.Queue[str] = asyncio.Queue()

    async def send(event: Mapping[str, Any]) -> None:
        said.put_nowait(event["type"])

    async def live() -> None:
        try:
            await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, begins.get, send)
        except Exception:  # whoever has no lifespan may say so like this
            pass
        finally:
            said.put_nowait("")

    life = asyncio.get_running_loop().create_task(live(), name="life of the front end")
    begins.put_nowait({"type": "lifespan.startup"})
    try:
        try:
            started = await asyncio.wait_for(said.get(), DEADLINE) != "lifespan.startup.failed"
        except (asyncio.TimeoutError, TimeoutError):
            started = False
        if not started:
            raise NotReached("the front end does not start")
        front = Front(app, headers)
        await front.begin()
        yield front
    finally:
        begins.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait({life}, timeout=DEADLINE)
        life.cancel()
        await _end_watchers()


async def _end_watchers() -> None:
    """End what sse-starlette has wait for the end of its server, which it knows of uvicorn alone."""
    watchers = {
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__qualname__", "") == "_shutdown_watcher"
    }
    for watcher in watchers:
        watcher.cancel()
    if watchers:
        await asyncio.wait(watchers)


def _messages(body: str) -> list[dict[str, Any]]:
    """The JSON-RPC messages of a body: one object, or server-sent events."""
    found = []
    for line in (body, *(each[5:] for each in body.splitlines() if each.startswith("data:"))):
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            found.append(message)
    return found
