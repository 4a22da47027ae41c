"""Wrong wrappers of CONN over streamable HTTP that resume an answer wrongly."""

from __future__ import annotations

from importlib import import_module

from mcp_conformance_reference.overhttp import HttpClient
from mcp_conformance_reference.sdk import MAJOR

from pytest_mcp_conformance.contract.connections import CUT_ANSWER_IS_RESUMED
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks

http = import_module("httpx2" if MAJOR == 2 else "httpx")


@breaks(CUT_ANSWER_IS_RESUMED)
class RetryIsNotRead(ByHttp):
    """An answer that was cut is asked for after a time of the client's own."""

    class client_type(HttpClient):
        def carrying(self, request, response, answer):
            carried = super().carrying(request, response, answer)
            carried.stream = _WithoutRetry(carried.stream)
            return carried


class _WithoutRetry(http.AsyncByteStream):
    def __init__(self, stream):
        self.stream = stream

    async def __aiter__(self):
        async for events in self.stream:
            yield events.replace(b"retry:", b"x-retry:")

    async def aclose(self):
        await self.stream.aclose()


@breaks(CUT_ANSWER_IS_RESUMED)
class SecondCutLosesThePlace(ByHttp):
    """A response that brought no event leaves nothing to go on from."""

    class client_type(HttpClient):
        async def resume(self, request, answer, **how):
            if answer.tries:
                del request.headers["last-event-id"]
            return await super().resume(request, answer, **how)


@breaks(CUT_ANSWER_IS_RESUMED)
class TriesHaveNoEnd(ByHttp):
    """An answer that cannot be resumed is asked for again, and again."""

    class client_type(HttpClient):
        max_tries = 10**9
