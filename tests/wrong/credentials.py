"""Wrong wrappers of TEN that keep a credential too long, or the object that holds it."""

from __future__ import annotations

from mcp_conformance_reference.overhttp import Credentials, HttpClient, http_streams

from pytest_mcp_conformance.adapters._reference import Login
from pytest_mcp_conformance.contract.tenants import (
    CALLERS_CONFIGURATION_IS_LEFT_ALONE,
    REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN,
)
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks


class Renews(ByHttp):
    """Gives the verb `set_principal`. By itself it breaks nothing."""

    def enter(self):
        self.login = Login(self, self.dial.principal, Credentials(self.dial.headers))
        super().enter()

    def over_http(self, url, headers):
        return super().over_http(url, self.login.credentials)

    def verbs(self):
        return {"set_principal": self.set_principal}

    async def set_principal(self, dial):
        await self.login.set_principal(dial)


@breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)
class TokenStaysWithItsConnection(Renews):
    """A new token is for the next connection."""

    def over_http(self, url, headers):
        return http_streams(url, self.login.credentials())


@breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)
class RedialsWithTheFirstToken(Renews):
    """A lost connection is replaced by one like the first."""

    dialled = False

    def over_http(self, url, headers):
        self.dialled, again = True, self.dialled
        return http_streams(url, headers) if again else super().over_http(url, headers)


@breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)
class StreamsAndTheEndKeepTheirToken(Renews):
    """A new token is for what is posted; what only listens, and what ends the session, has the first."""

    class client_type(HttpClient):
        def __init__(self, headers, **settings):
            super().__init__(headers, **settings)
            self.first = headers()

        def headers_for(self, request):
            if request.method == "POST" and b'"subscriptions/listen"' not in request.content:
                return super().headers_for(request)
            return self.first


@breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)
class RenewalIsAnotherLogin(Renews):
    """Whoever comes with another token is another user, and gets another session."""

    async def set_principal(self, dial):
        await self.close()
        self.login.credentials.replace(dial.headers)
        await self.connect()


@breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)
class AnotherLoginIsARenewal(Renews):
    """Whoever comes with another token is the same user, and is shown what was kept."""

    async def set_principal(self, dial):
        self.login.credentials.replace(dial.headers)


class KeepsTheObject(ByHttp):
    """Sends the headers of the object that it was given, as they are when it dials. It breaks TEN-9."""

    def enter(self):
        self.headers = self.dial.headers
        super().enter()

    def over_http(self, url, headers):
        return super().over_http(url, self.headers)


@breaks(CALLERS_CONFIGURATION_IS_LEFT_ALONE)
class ReadAnewAtEachDial(KeepsTheObject):
    """The caller's object is read at each dial."""


@breaks(CALLERS_CONFIGURATION_IS_LEFT_ALONE)
class ReadAnewForEachRequest(KeepsTheObject):
    """The caller's object is read for each request."""

    def over_http(self, url, headers):
        return http_streams(url, lambda: self.headers)


@breaks(CALLERS_CONFIGURATION_IS_LEFT_ALONE)
class FillsInWhatIsMissing(KeepsTheObject):
    """What the caller left out is written into the caller's object."""

    def enter(self):
        super().enter()
        self.headers.setdefault("User-Agent", "a wrapper")
        self.headers = dict(self.headers)


@breaks(CALLERS_CONFIGURATION_IS_LEFT_ALONE)
class TakesTheTokenOut(KeepsTheObject):
    """The token is taken out of the caller's object, and kept elsewhere."""

    def enter(self):
        super().enter()
        headers, self.headers = self.headers, dict(self.headers)
        headers.pop("Authorization", None)


@breaks(CALLERS_CONFIGURATION_IS_LEFT_ALONE)
class TakesTheTransportOut(ByHttp):
    """What it reads of the caller's settings is taken out of them."""

    def over_http(self, url, headers):
        settings = self.dial.settings(transport="streamable-http")
        settings.pop("transport")
        return super().over_http(**settings)
