"""A client that is served in front, as a proxy is. By itself it breaks nothing."""

from __future__ import annotations

import json
from uuid import uuid4

from mcp_conformance_reference import CheckFailed
from mcp_conformance_reference.errors import RequestFailed
from mcp_conformance_reference.overhttp import HttpClient

from tests.wrong._http import ByHttp

__all__ = ["Proxies"]


class Proxies(ByHttp):
    """Gives the verb `front`.

    Attributes:
        asking: The headers of the newest request in front.
    """

    def enter(self):
        self.asking = {}

        class Passing(HttpClient):
            def headers_for(_, request):
                return {**super().headers_for(request), **self.passed_on(request)}

        self.client_type = Passing
        super().enter()

    def passed_on(self, request):
        """What of the headers in front rides on a request behind."""
        return {}

    def verbs(self):
        return {"front": lambda: self.serve}

    async def serve(self, scope, receive, send):
        """Answer one request in front, as ASGI has it."""
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        self.asking = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        message = json.loads(body)
        answer = await self.answered(message) if "id" in message else None
        headers = [(b"content-type", b"application/json")]
        if message["method"] == "initialize":
            headers.append((b"mcp-session-id", uuid4().hex.encode()))
        await send(
            {"type": "http.response.start", "status": 202 if answer is None else 200, "headers": headers}
        )
        await send(
            {"type": "http.response.body", "body": b"" if answer is None else json.dumps(answer).encode()}
        )

    async def answered(self, message):
        """The message that answers a request."""
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = await self.result_of(message["method"], message.get("params") or {})
        except (RequestFailed, CheckFailed) as failed:
            answer["error"] = {"code": -32603, "message": str(failed)}
        return answer

    async def result_of(self, method, params):
        """The result of one request in front."""
        if method == "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "proxy", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [dict(each.listed) for each in await self.definitions()]}
        return await self.called(params)

    async def called(self, params, **more):
        """The result of a call in front: the back end's."""
        return (await self.call_tool(params["name"], params.get("arguments"), **more)).raw
