"""Wrong wrappers of CONN that mistake the session of a server over streamable HTTP."""

from __future__ import annotations

import json
from importlib import import_module

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.overhttp import HttpClient
from mcp_conformance_reference.sdk import MAJOR

from pytest_mcp_conformance.contract.connections import (
    CLOSE_IS_BOUNDED,
    LOST_SESSION_IS_REPLACED,
    SESSION_HEADERS_RIDE_ON_EVERY_REQUEST,
)
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks

http = import_module("httpx2" if MAJOR == 2 else "httpx")


@breaks(LOST_SESSION_IS_REPLACED)
class TiedToTheDeadSession(ByHttp):
    """A session that is gone is an error like any other, each time anew."""

    class client_type(HttpClient):
        def error_of(self, request, response, body):
            return {"code": -32600, "message": f"HTTP {response.status_code}"}


@breaks(LOST_SESSION_IS_REPLACED)
class NotFoundIsAToolsFault(ByHttp):
    """What went wrong with a call is its result, whatever it was, and nothing follows from it."""

    class client_type(HttpClient):
        async def mended(self, request, response, message):
            mended = await super().mended(request, response, message)
            if message.get("method") != "tools/call":
                return mended
            said = json.loads(mended.content)
            result = {"content": [{"type": "text", "text": said.pop("error")["message"]}], "isError": True}
            return http.Response(200, json={**said, "result": result}, request=request)


@breaks(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST)
class GetAndDeleteGoWithout(ByHttp):
    """The headers of the session are set where messages are posted."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if request.method in ("GET", "DELETE"):
                request.headers.pop("mcp-session-id", None)
            return await super().send(request, **how)


@breaks(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST)
class VersionIsSaidOnce(ByHttp):
    """The version is agreed on in the handshake, and not said again."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            request.headers.pop("mcp-protocol-version", None)
            return await super().send(request, **how)


@breaks(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST)
class IdInQuotes(ByHttp):
    """Whoever ends a session names it in quotes, as the tag of an entity is."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if request.method == "DELETE" and "mcp-session-id" in request.headers:
                request.headers["mcp-session-id"] = f'"{request.headers["mcp-session-id"]}"'
            return await super().send(request, **how)


@breaks(CLOSE_IS_BOUNDED)
class WaitsForTheAnswerToItsDelete(ByHttp):
    """A session is over once the server has said so, however long that takes."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if request.method == "DELETE":
                request.extensions["timeout"] = {}
            return await super().send(request, **how)

    class connection_type(Connection):
        async def close(self, why):
            self.end(why)
            await self.finished.wait()
