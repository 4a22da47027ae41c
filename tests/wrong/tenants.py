"""Wrong wrappers of TEN."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller

from pytest_mcp_conformance.contract.tenants import (
    FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS,
    LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL,
    PRINCIPALS_NEVER_SHARE_A_SESSION,
    QUESTIONS_REACH_THEIR_OWN_PRINCIPAL,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS)
class OneConnectionForAllPrincipals(Client):
    """Whoever comes first lends its credentials to all."""

    def enter(self):
        self.open_streams = self.shared.setdefault("streams", self.dial.streams)


@breaks(PRINCIPALS_NEVER_SHARE_A_SESSION)
class CarelessKey(Client):
    """Connections are told apart by the letters of the principal's name."""

    def enter(self):
        key = "".join(filter(str.isalpha, str(self.dial.principal or None))).lower()
        self.open_streams = self.shared.setdefault(key, self.dial.streams)


@breaks(LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL)
class SchemasOfTheServer(Client):
    """The schemas of a server are kept by tool name, for everybody."""

    def caller_type(self, *parts):
        schemas = self.shared

        class ByServer(Caller):
            def check(self, definition):
                return super().check(schemas.setdefault(definition.name, definition))

        return ByServer(*parts)


@breaks(QUESTIONS_REACH_THEIR_OWN_PRINCIPAL)
class OneHandlerForAll(Client):
    """The handlers of the first client are kept for all."""

    def enter(self):
        first = self.shared.setdefault("heard", self.heard)
        if first is not self.heard:
            self.heard = _Passing(first)


class _Passing(list):
    """A list that passes on what is put into it."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def append(self, item):
        self.other.append(item)
