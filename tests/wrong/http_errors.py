"""Wrong wrappers of CONN that make too little, or too much, of an HTTP error."""

from __future__ import annotations

import anyio
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.overhttp import HttpClient
from mcp_conformance_reference.sdk import rpc_error

from pytest_mcp_conformance.contract.calls import PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL
from pytest_mcp_conformance.contract.connections import HTTP_ERROR_BELONGS_TO_ITS_REQUEST
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks


@breaks(HTTP_ERROR_BELONGS_TO_ITS_REQUEST)
class StatusIsOnlyLogged(ByHttp):
    """Whatever went wrong with a request, its caller is told that something did."""

    class client_type(HttpClient):
        def error_of(self, request, response, body):
            return {"code": -32603, "message": "Server returned an error response"}


class Mute(HttpClient):
    """An HTTP error ends the task that posts, and nobody is told."""

    async def mended(self, request, response, message):
        await anyio.sleep_forever()


@breaks(HTTP_ERROR_BELONGS_TO_ITS_REQUEST)
class NobodyTellsTheWaiter(ByHttp):
    """After an HTTP error the caller waits for its own limit, and never learns the status."""

    client_type = Mute


@breaks(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL)
class CallWaitsForItsLimit(ByHttp):
    """A call that is answered with an HTTP error ends when its own limit is over."""

    client_type = Mute


@breaks(HTTP_ERROR_BELONGS_TO_ITS_REQUEST)
class HttpErrorEndsTheSession(ByHttp):
    """Where one request is answered with an HTTP error, the connection is taken for broken."""

    class exchange_type(Exchange):
        def explain(self, method, error):
            said = rpc_error(error)
            if said is not None and said.message.startswith("HTTP "):
                self._on_lost(error)
            return super().explain(method, error)
