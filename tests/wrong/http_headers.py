"""Wrong wrappers over streamable HTTP that lose a header."""

from __future__ import annotations

from functools import partial

from mcp_conformance_reference.overhttp import HttpClient, http_streams

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract.tenants import HEADERS_RIDE_ON_ALL_TRAFFIC
from tests.wrong._client import Client
from tests.wrong._http import ByHttp
from tests.wrong._one_call import ForOneCall
from tests.wrong._wrong import breaks


@breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)
class HeadersOnCallsOnly(ByHttp):
    """The configured headers are added where a tool is called."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if request.method != "POST" or b'"tools/call"' not in request.content:
                request.headers.pop("authorization", None)
            return await super().send(request, **how)


@breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)
class StreamsAndTheEndGoWithout(ByHttp):
    """What only listens, and what ends the session, goes out without the configured headers."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if request.method != "POST" or b'"subscriptions/listen"' in request.content:
                request.headers.pop("authorization", None)
            return await super().send(request, **how)


@breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)
class HeadersAreForTheFirstDial(Client):
    """The configured headers are used up by the first dial."""

    def enter(self):
        headers = [self.dial.headers]

        def over_http(url, _):
            return http_streams(url, headers.pop() if headers else {})

        self.open_streams = partial(streams_of, self.dial, over_http)


@breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)
class HeadersOfACallAreForItsDial(ForOneCall):
    """Headers that a call is given are for the connection that it dials, and this one is there already."""

    def over_http(self, url, headers):
        return http_streams(url, {**headers, **self.given})


@breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)
class HeadersOfACallOnlyAddToOthers(ForOneCall):
    """Headers that a call is given are sent where its connection has none of that name."""

    def headers_of(self, request):
        return {name: value for name, value in self.given.items() if name not in request.headers}
