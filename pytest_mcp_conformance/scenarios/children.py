"""Scenarios of CONN, TEN and NTC: the child processes of stdio, ended, replaced, and told apart."""

from __future__ import annotations

from pytest_mcp_conformance.contract.connections import CLOSE_IS_BOUNDED
from pytest_mcp_conformance.contract.notices import STDIO_RECONNECT_LISTENS_AGAIN
from pytest_mcp_conformance.contract.tenants import STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import STDIO, scenario
from pytest_mcp_conformance.scenarios._steps import elapsed
from pytest_mcp_conformance.server import FAULTS, HOUR_MS, V1, V2, ScriptedServer

UNREAD = 100
"""So many messages are on their way when the wrapper closes."""

ENDS = {"exit": FAULTS["ends"], "kill": FAULTS["killed"], "eof": FAULTS["closes_stdout"]}
"""How a child ends."""


@scenario(CLOSE_IS_BOUNDED, variants=("ignores_eof", "ignores_sigterm", "unread_messages"), ways=STDIO)
async def child_that_does_not_end(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The wrapper closes. Its child ignores the end of stdin, or SIGTERM too, or has said much until then."""
    server.has_tools(*V1)
    children = connect.ways.stdio(server)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        living = [child for child in children.relays if child.alive]
        if not living:
            leave_out(CLOSE_IS_BOUNDED, "has no child when it closes")
            return
        if how == "unread_messages":
            for connection in server.connections:
                for number in range(UNREAD):
                    connection.notify("notifications/message", {"level": "info", "data": number})
        else:
            server.suffers(how, "close", times=len(living))
        with elapsed() as spent:
            await wrapper.close()
            seconds = spent.seconds
    left = children.left()
    if how == "unread_messages":  # mcp 1.x raises at whoever leaves, where something was read too late
        wrapper.trouble.clear()
    with check(CLOSE_IS_BOUNDED):
        assert seconds < wrapper.patience, f"close had not ended after {seconds:g} s"
        assert left == [], f"close has ended, and {'; '.join(left)}"


@scenario(STDIO_RECONNECT_LISTENS_AGAIN, variants=tuple(ENDS), ways=STDIO)
async def child_that_is_replaced(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The child exits, is killed or closes its stdout; the wrapper starts another, and the tools change."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)
    if connect.claims.makes("dials_per_operation"):
        leave_out(STDIO_RECONNECT_LISTENS_AGAIN, "dials_per_operation: each verb has a child of its own")
        return
    children = connect.ways.stdio(server)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        must_have_a_channel(server, server.ledger.frames("subscriptions/listen"))
        before, mark = len(children.relays), server.ledger.mark
        server.drop(ENDS[how])
        await server.settle()
        if await wrapper.try_names() is None:  # whoever finds it dead may be told so, once
            await wrapper.names()
        await server.settle()
        reached(len(children.relays) > before, "no other child was started")
        asked = [
            frame.params.get("notifications", {})
            for frame in server.ledger.frames("subscriptions/listen", since=mark)
        ]
        with check(STDIO_RECONNECT_LISTENS_AGAIN):
            listens = any(each.get("toolsListChanged") for each in asked)
            assert listens, f"the child that took the place of the first was asked to tell of {asked}"
            server.has_tools(*V2)
            await server.notify_list_changed()
            await wrapper.react()
            names = await wrapper.names()
            assert names == ["a", "new"], "the listing after a notice of the second child"


@scenario(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN, ways=STDIO)
async def children_of_two_principals(server: ScriptedServer, connect: Connect) -> None:
    """Two principals connect to one server, list and call."""
    server.ttl_ms = HOUR_MS
    for name in "AB":
        server.has_tools(_of(name), principal=name)

    holders: dict[str, Holder] = {}
    for name in "AB":
        holder = holders[name] = await connect.attempt(server, name)
        if holder.error is not None or await holder.try_names() is None:
            leave_out(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN, "refuses a principal over stdio")
            return
    for name, holder in holders.items():
        with check(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN):
            names = await holder.names()
            assert names == [_of(name)], f"the tools of {name}"
            await holder.call(_of(name), f"by {name}")
            senders = [frame.principal for frame in server.ledger.calls(f"by {name}")]
            assert senders == [name], f"with whose credentials the child runs that {name} calls"
    reached(server.ledger.frames(), "nothing reached the server")
    with check(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN):
        pids = {name: {child.pid for child in connect.ways.stdio(server, name).relays} for name in "AB"}
        assert all(pids.values()), f"the children of each principal: {pids}"


def _of(principal: str) -> str:
    """The tool of a principal; in small letters, as some wrappers show every name."""
    return f"of_{principal.lower()}"
