"""Wrong wrappers of TEN."""

from __future__ import annotations

import asyncio

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.errors import DialFailed

from pytest_mcp_conformance.contract.tenants import (
    FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS,
    LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL,
    PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER,
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


@breaks(PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER)
class OneLockAroundAllDials(Client):
    """One dial at a time, whoever dials."""

    async def connect(self):
        async with self.shared.setdefault("lock", asyncio.Lock()):
            await super().connect()


@breaks(PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER)
class OneVerbAtATime(Client):
    """One lock is held around every listing and call, whoever asks."""

    async def list_tools(self):
        async with self.shared.setdefault("lock", asyncio.Lock()):
            return await super().list_tools()

    async def call_tool(self, tool, arguments=None, **more):
        async with self.shared.setdefault("lock", asyncio.Lock()):
            return await super().call_tool(tool, arguments, **more)


@breaks(PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER)
class RefusedForAll(Client):
    """A login that is refused is refused to everybody who comes later."""

    async def connect(self):
        if "refused" in self.shared:
            raise self.shared["refused"]
        try:
            await super().connect()
        except DialFailed as refused:
            self.shared["refused"] = refused
            raise


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
