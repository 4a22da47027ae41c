"""What wrong wrappers are made from that go wrong over streamable HTTP."""

from __future__ import annotations

from functools import partial

from mcp_conformance_reference.overhttp import HttpClient, http_streams

from pytest_mcp_conformance.adapters._transports import streams_of
from tests.wrong._client import Client

__all__ = ["ByHttp"]


class ByHttp(Client):
    """A client whose HTTP client, where there is one, is of a `client_type`."""

    client_type = HttpClient

    def enter(self):
        self.open_streams = partial(streams_of, self.dial, self.over_http)

    def over_http(self, url, headers):
        return http_streams(url, headers, client_type=self.client_type)
