"""Wrong wrappers of TEN that go wherever they are sent."""

from __future__ import annotations

from mcp_conformance_reference.overhttp import HttpClient

from pytest_mcp_conformance.contract.tenants import CREDENTIAL_STAYS_WITH_ITS_ORIGIN
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks


@breaks(CREDENTIAL_STAYS_WITH_ITS_ORIGIN)
class HeadersFollowARedirect(ByHttp):
    """A request that is redirected is sent there as it is."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            response = await super().send(request, **how)
            if response.next_request is None:
                return response
            await response.aclose()
            url, fields = response.next_request.url, dict(request.headers)
            del fields["host"]
            again = self.build_request(request.method, url, headers=fields, content=request.content)
            return await super().send(again, **how)


@breaks(CREDENTIAL_STAYS_WITH_ITS_ORIGIN)
class SessionFollowsARedirect(ByHttp):
    """The HTTP client is left to follow; it takes away what it knows to be a credential, and no more."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            return await super().send(request, **{**how, "follow_redirects": True})
