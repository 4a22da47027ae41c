"""Scenarios over streamable HTTP of the modern era: what calls repeat in headers, and who says what."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.calls import (
    HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY,
    HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH,
)
from pytest_mcp_conformance.contract.tools import INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import all_names
from pytest_mcp_conformance.server import ScriptedServer, tool
from pytest_mcp_conformance.server.ways.http import Reply

HEADER_MISMATCH = -32020


def annotated(name: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """A tool with these arguments."""
    return tool(name, inputSchema={"type": "object", "properties": properties})


def named(header: Any, kind: str = "string") -> dict[str, Any]:
    """An argument that goes into the header of this name as well."""
    return {"type": kind, "x-mcp-header": header}


BAD = {
    "bad_empty": annotated("bad_empty", x=named("")),
    "bad_space": annotated("bad_space", x=named("My Region")),
    "bad_colon": annotated("bad_colon", x=named("Region:")),
    "bad_kind": annotated("bad_kind", x=named(7)),
    "bad_type": annotated("bad_type", x=named("Region", "object")),
    "bad_twins": annotated("bad_twins", x=named("Region"), y=named("region")),
    "bad_place": annotated("bad_place", x={"type": "array", "items": named("Region")}),
}
"""One tool for each constraint on annotations that it breaks."""


@scenario(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH, ways=HTTP)
async def headers_that_repeat_the_call(server: ScriptedServer, connect: Connect) -> None:
    """A tool with two annotated arguments, on page one of two, is called; then its header is named otherwise.

    It is called by handle, by name and with `_meta`, without a second argument and with null for it.
    """
    region = annotated("a", nonce=named("Region"), zone=named("Zone"))
    server.pages([region], [tool("b")])
    traffic = Traffic(server, connect)

    async with connect(server) as wrapper:
        await all_names(wrapper)
        await wrapper.call("a", "by handle")
        await wrapper.call("a", "by name", handle="a")
        await wrapper.call("a", "with null", zone=None)
        if wrapper.has("call_with"):
            await wrapper.start_call_with("a", "with meta", {"x/y": 1}, None).ended()
        reached(traffic.calls("by handle"), "no call was sent")
        for nonce in ("by handle", "by name", "with null", "with meta"):
            _judge_headers(traffic, nonce, "mcp-param-region", without="mcp-param-zone")

        server.pages([annotated("a", nonce=named("Area"), zone=named("Zone"))], [tool("b")])
        await wrapper.make_stale()
        await all_names(wrapper)
        await wrapper.call("a", "renamed")
        _judge_headers(traffic, "renamed", "mcp-param-area", without="mcp-param-region")
    with check(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH):
        for each in traffic.requests("POST"):
            said = each.headers.get("mcp-method")
            assert not each.asks or said == each.asks, f"{each}: the header Mcp-Method is {said!r}"


def _judge_headers(traffic: Traffic, nonce: str, header: str, without: str) -> None:
    """Look at the first request of a call; who refuses the arguments sends none."""
    for each in traffic.calls(nonce)[:1]:
        with check(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH):
            for name, value in (("mcp-name", "a"), (header, nonce)):
                said = each.headers.get(name)
                assert said == value, f"the call {nonce!r}: the header {name} is {said!r}, not {value!r}"
            assert without not in each.headers, (
                f"the call {nonce!r}: the header {without} is {each.headers[without]!r}, and has no value"
            )


@scenario(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY, variants=("mended", "again"), ways=HTTP)
async def headers_of_an_older_listing(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The server names a header otherwise and tells nobody; a call is refused with 400 and -32020.

    With the new header it is answered; or it is refused again, whatever it carries.
    """
    server.has_tools(annotated("a", nonce=named("Region")))
    traffic = Traffic(server, connect)

    def refused(seen: Seen) -> Reply | None:
        if how == "mended" or seen.asks != "tools/call":
            return None
        error = {"code": HEADER_MISMATCH, "message": "Header mismatch"}
        return Reply.json(400, {"jsonrpc": "2.0", "id": seen.message["id"], "error": error})

    async with connect(server) as wrapper:
        await all_names(wrapper)
        server.has_tools(annotated("a", nonce=named("Area")))
        traffic.instead = refused
        outcome = await wrapper.call("a", "n1", handle="a")
        sent = traffic.calls("n1")
        reached(sent, "the call was not sent")
        if sent[0].status != 400:
            leave_out(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY, "the tools are listed before the call")
            return
        with check(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY):
            assert len(sent) > 1, f"a call that was refused for its headers was not sent again: {outcome}"
            assert len(sent) == 2, f"a call that was refused for its headers was sent {len(sent)} times"
            first, second = (traffic.seen.index(each) for each in sent)
            between = [each.asks for each in traffic.seen[first:second]]
            assert "tools/list" in between, "the tools were not listed before the call was sent again"
            ids = [each.message["id"] for each in sent]
            assert ids[0] != ids[1], f"the call was sent again under its id {ids[0]!r}"
            if how == "mended":
                assert outcome.ok, f"the call was sent again, and {outcome}"
            else:
                assert not outcome.ok, f"the call was refused twice, and {outcome}"


@scenario(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL, ways=HTTP)
async def annotations_that_cannot_be_headers(server: ScriptedServer, connect: Connect) -> None:
    """Between two good tools the server lists one for each way to annotate a header wrongly."""
    server.has_tools(tool("good", "integer"), *BAD.values(), tool("good2"))

    async with connect(server) as wrapper:
        with check(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL):
            names = await wrapper.names()
            offered = [name for name in names if name in BAD]
            assert not offered, f"offered although their annotations are invalid: {', '.join(offered)}"
            assert names == ["good", "good2"]
        reached(server.ledger.listings(), "no listing reached the server")
        with check(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL):
            outcome = await wrapper.call("good", "n1")
            assert outcome.ok, f"a good tool beside bad ones: {outcome}"
        if wrapper.claims.checks_output == "refuses":
            server.answers("good", "x")
            with check(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL):
                outcome = await wrapper.call("good", "n2")
                assert not outcome.ok, f"a good tool beside bad ones answers out of its schema: {outcome}"
