"""What a client is made of. Each part is a class of small methods, and a client may be made of others."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.flight import Flight
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.life import Life
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.rounds import Rounds
from mcp_conformance_reference.subscription import ListenRequest, Subscription
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

__all__ = ["Parts"]


class Parts:
    """The classes of the parts; a subclass of the client names the ones it wants otherwise."""

    life_type: type[Life] = Life
    """One life, from connect to close: holds one of each of the parts below."""
    dialler_type: type[Dialler] = Dialler
    """One connection at a time."""
    connection_type: type[Connection] = Connection
    """One connection, owned by one task."""
    exchange_type: type[Exchange] = Exchange
    """The requests that are out on a connection."""
    request_type: type[Request] = Request
    """One request."""
    subscription_type: type[Subscription] = Subscription
    """The listen stream of a modern connection."""
    listen_type: type[ListenRequest] = ListenRequest
    """The request that such a stream is."""
    notices_type: type[Notices] = Notices
    """Where each notification goes."""
    tool_list_type: type[ToolList] = ToolList
    """What is kept of listings, and for how long."""
    flight_type: type[Flight] = Flight
    """One walk that several may wait for."""
    walk_type: type[Walk] = Walk
    """One walk through the pages."""
    caller_type: type[Caller] = Caller
    """Calls."""
    rounds_type: type[Rounds] = Rounds
    """The rounds of one call in the modern era."""
    check_type: type[OutputCheck] = OutputCheck
    """The judgement of one result."""
    handle_type: type[ListedTool] = ListedTool
    """A tool as handed out."""
