"""A reference MCP client for tools: small parts over the SDK's sessions, for mcp 1.x and 2.x and both eras.

Start with `ReferenceClient`. It knows nothing of pytest or of the kit that it is the first subject of.
"""

from mcp_conformance_reference.calls import Caller, Plan
from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.client import Clock, ReferenceClient
from mcp_conformance_reference.connection import Connection, OpenStreams
from mcp_conformance_reference.conversation import Conversation
from mcp_conformance_reference.definitionlist import Binding, DefinitionList, ListFlight
from mcp_conformance_reference.definitions import Definition, definition_of
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.dials import PooledSession, pooled_session
from mcp_conformance_reference.errors import (
    CallFailed,
    CheckFailed,
    ClientClosed,
    ClientError,
    ConnectionLost,
    DialFailed,
    EraUnavailable,
    ListFailed,
    RequestFailed,
    SchemaUnusable,
    StaleTool,
    VerbTimeout,
    WalkUnbounded,
)
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.flight import Flight
from mcp_conformance_reference.generations import ListingGenerations, SettledListing, listings_of
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.incarnation import Incarnation, WrappedTool
from mcp_conformance_reference.keys import Declaration, key_of, read_declaration
from mcp_conformance_reference.leases import (
    Lease,
    LeaseReleased,
    ListingRecords,
    ListingUnusable,
    ListingWriter,
)
from mcp_conformance_reference.ledger import LedgerCall, RequestLedger, RequestRecord, RequestState
from mcp_conformance_reference.life import Life
from mcp_conformance_reference.marker import CALL_MARKER_KEY, TakenMarker, mark_params, take_marker
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.parts import Parts
from mcp_conformance_reference.pool import ConnectionPool
from mcp_conformance_reference.pooled import PooledConnection
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.sdk import MAJOR, Era
from mcp_conformance_reference.settings import LogMessage, Settings
from mcp_conformance_reference.sharing import (
    MAX_DEFINITION_ENTRIES,
    MAX_SHARED_TOOLS,
    SharedDefinitions,
    SharedEntry,
    context_of,
)
from mcp_conformance_reference.subscription import ListenRequest, Subscription
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import LeftOut, Listing, Page, Walk

__all__ = [
    "CALL_MARKER_KEY",
    "MAJOR",
    "MAX_DEFINITION_ENTRIES",
    "MAX_SHARED_TOOLS",
    "Binding",
    "CallFailed",
    "CallResult",
    "Caller",
    "CheckFailed",
    "ClientClosed",
    "ClientError",
    "Clock",
    "Connection",
    "ConnectionLost",
    "ConnectionPool",
    "Conversation",
    "Declaration",
    "Definition",
    "DefinitionList",
    "DialFailed",
    "Dialler",
    "Era",
    "EraUnavailable",
    "Exchange",
    "Flight",
    "Incarnation",
    "Lease",
    "LeaseReleased",
    "LedgerCall",
    "LeftOut",
    "Life",
    "ListFailed",
    "ListFlight",
    "ListedTool",
    "ListenRequest",
    "Listing",
    "ListingGenerations",
    "ListingRecords",
    "ListingUnusable",
    "ListingWriter",
    "LogMessage",
    "Notices",
    "OpenStreams",
    "OutputCheck",
    "Page",
    "Parts",
    "Plan",
    "PooledConnection",
    "PooledSession",
    "ReferenceClient",
    "Request",
    "RequestFailed",
    "RequestLedger",
    "RequestRecord",
    "RequestState",
    "SchemaUnusable",
    "Settings",
    "SettledListing",
    "SharedDefinitions",
    "SharedEntry",
    "StaleTool",
    "Subscription",
    "TakenMarker",
    "ToolList",
    "VerbTimeout",
    "Walk",
    "WalkUnbounded",
    "WrappedTool",
    "context_of",
    "definition_of",
    "key_of",
    "listings_of",
    "mark_params",
    "pooled_session",
    "read_declaration",
    "take_marker",
]
