"""The verbs of the reference: of a client, and of the parts that stand beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from mcp_conformance_reference import CheckFailed, ReferenceClient, definition_of
from mcp_conformance_reference.conversation import Conversation
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.generations import ListingGenerations, listings_of
from mcp_conformance_reference.keys import key_of
from mcp_conformance_reference.ledger import RequestLedger
from mcp_conformance_reference.marker import mark_params, take_marker
from mcp_conformance_reference.overhttp import Credentials, http_streams, sse_streams
from mcp_conformance_reference.pool import ConnectionPool
from mcp_conformance_reference.several import SeveralClients
from mcp_conformance_reference.sharing import SharedDefinitions

from pytest_mcp_conformance.adapters._reference_agent import Agent
from pytest_mcp_conformance.adapters._several import together_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Dial, Wrapper

__all__ = ["LIMIT", "Login", "WhiteBox", "conversation_of", "wrapper_of"]

LIMIT = 30.0


def conversation_of(kind: type[Conversation]) -> Any:
    """The verb that makes conversations of a kind."""

    def make(dial: Dial, **how: Any) -> Conversation:
        era: Any = "modern" if dial.era == "modern" else "handshake"
        return kind(
            lambda: streams_of(dial, http_streams, sse_streams), era=era, now=dial.clock.monotonic, **how
        )

    return make


converse = conversation_of(Conversation)
"""The verb `conversation` of the reference."""


@dataclass(frozen=True)
class WhiteBox:
    """The parts of the reference that the white-box areas look inside, by the verb that hands them out."""

    generations: Any = ListingGenerations
    listings_of: Any = listings_of
    definition_of: Any = definition_of
    definition_list: Any = DefinitionList
    shared_definitions: Any = SharedDefinitions
    conversation: Any = converse
    mark_params: Any = mark_params
    take_marker: Any = take_marker
    request_ledger: Any = RequestLedger
    pool: Any = ConnectionPool
    key_of: Any = key_of

    def verbs(self) -> dict[str, Any]:
        """The verbs."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass
class Login:
    """Who uses a client now, and with which credentials."""

    client: ReferenceClient
    principal: str | None
    credentials: Credentials

    async def set_principal(self, dial: Dial) -> None:
        """Renew the credentials of the same user; for another one the client is begun anew."""
        if dial.principal == self.principal:
            self.credentials.replace(dial.headers)
            return
        await self.client.close()
        self.principal = dial.principal
        self.credentials.replace(dial.headers)
        await self.client.connect()


def refusal_payload(refusal: CheckFailed) -> str:
    """What a refused answer held: its text, and its structured content as JSON."""
    return f"{refusal.result.text}\n{json.dumps(refusal.result.structured_content)}"


def wrapper_of(client: ReferenceClient, heard: list[str], white_box: WhiteBox | None = None) -> Wrapper:
    """The verbs of a client, with the log messages that it has heard, and the parts that stand beside it."""

    async def call_with(tool: Any, arguments: Any, meta: Any, on_progress: Any) -> Any:
        hears = None if on_progress is None else lambda done, total, text: on_progress(done)
        return await client.call_tool(tool, arguments, meta=meta, on_progress=hears)

    async def call_within(tool: Any, arguments: Any, seconds: float) -> Any:
        return await client.call_tool(tool, arguments, timeout=seconds)

    return Wrapper(
        list_tools=client.list_tools,
        call_tool=client.call_tool,
        call_with=call_with,
        call_within=call_within,
        refresh=client.refresh,
        invalidate=client.invalidate,
        permissions_changed=client.permissions_changed,
        bind=client.bind,
        read_resource=client.read_resource,
        reconnect=client.reconnect,
        close=client.close,
        accessors=client.accessors,
        refusal_payload=refusal_payload,
        received=lambda: list(heard),
        together=together_of(SeveralClients, LIMIT),
        run=Agent(client).run,
        **(white_box or WhiteBox()).verbs(),
    )
