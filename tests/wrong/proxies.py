"""Wrong wrappers of TEN that hand on to the back end what the front end's user sent."""

from __future__ import annotations

from pytest_mcp_conformance.contract.tenants import PROXY_SENDS_ITS_OWN_CREDENTIAL
from tests.wrong._proxying import Proxies
from tests.wrong._wrong import breaks


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class CredentialIsPassedOn(Proxies):
    """A request behind bears the Authorization header of the request in front."""

    def passed_on(self, request):
        return {name: value for name, value in self.asking.items() if name == "authorization"}


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class CredentialIsPassedOnWithCalls(Proxies):
    """Listings are the proxy's own, and calls are those of the user in front."""

    def passed_on(self, request):
        calls = b'"tools/call"' in request.content
        return {name: value for name, value in self.asking.items() if calls and name == "authorization"}


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class SessionIsPassedOn(Proxies):
    """A request behind is of the session in front."""

    def passed_on(self, request):
        return {name: value for name, value in self.asking.items() if name == "mcp-session-id"}


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class HostIsPassedOn(Proxies):
    """A request behind bears the Host header of the request in front."""

    def passed_on(self, request):
        return {name: value for name, value in self.asking.items() if name == "host"}


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class MetaIsPassedOn(Proxies):
    """A call behind bears the `_meta` of the call in front, the token of its progress included."""

    async def called(self, params, **more):
        return await super().called(params, meta=params.get("_meta"), **more)


@breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)
class TokenIsHandedOnInMeta(Proxies):
    """The back end is told in the `_meta` of a call who asks, by the credential of the user in front."""

    async def called(self, params, **more):
        told = {"example.com/user": self.asking.get("authorization")}
        return await super().called(params, meta=told, **more)
