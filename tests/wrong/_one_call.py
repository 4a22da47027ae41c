"""A client that sends headers of one call's own. By itself it breaks nothing."""

from __future__ import annotations

import anyio
from mcp_conformance_reference.overhttp import HttpClient

from tests.wrong._http import ByHttp

__all__ = ["ForOneCall"]


class ForOneCall(ByHttp):
    """Gives the verb `call_with_headers`; one such call at a time.

    Attributes:
        given: The headers of the call that is out.
    """

    def enter(self):
        self.given = {}
        self.one_at_a_time = anyio.Lock()

        class Adding(HttpClient):
            def headers_for(_, request):
                calls = request.method == "POST" and b'"tools/call"' in request.content
                return self.headers_of(request) if calls else {}

        self.client_type = Adding
        super().enter()

    def headers_of(self, request):
        """What a call carries beside the headers of its connection, or in their place."""
        return self.given

    def verbs(self):
        return {"call_with_headers": self.call_with_headers}

    async def call_with_headers(self, tool, arguments, headers):
        async with self.one_at_a_time:
            self.given = headers
            try:
                return await self.call_tool(tool, arguments)
            finally:
                self.given = {}
