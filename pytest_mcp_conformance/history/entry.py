"""The lines of a history's file: a header, one entry for each event, a footer. Pure data.

A field that has its default is not written. What each field means stands beside it, and from there in the
JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

__all__ = ["FORMAT", "KINDS", "SCRIPT", "WIRE", "WRAPPER", "Entry", "Footer", "Header", "Listed"]

FORMAT = 1
"""Counts up when a reader of the file would have to change."""

WIRE = {
    "opened": "a connection was opened",
    "closed": "a connection was closed, `how`",
    "asked": "a request of the client",
    "answered": "a result of the server",
    "failed": "a JSON-RPC error of the server; without a `code` an error of HTTP, or one without a code",
    "told": "a notification of the client",
    "noticed": "a notification of the server",
    "listened": "the server has granted a subscription: from here on it sends notices on it",
    "cancelled": "a request was cancelled, `how`: by the client or by the server",
    "requested": "a request of the server",
    "replied": "the client's answer to a request of the server",
    "garbled": "a line that is no frame, `how`: of the client or of the server",
    "astray": "a request to an address that no server has, or an attempt to reach another host",
}
SCRIPT = {
    "changed": "the scripted server lists something else from here on",
    "barred": "an attempt to connect that the scripted server refused",
    "outlived": "every holder had left, everything had come to rest, and a connection was open still",
}
WRAPPER = {
    "entered": "a holder was set up",
    "wanted": "a user asked for the tools",
    "served": "the user was handed a list of tools",
    "called": "a user called a tool",
    "returned": "the call ended, `outcome`",
    "refused": "the call ended without a result, and no call had reached the wire since it began",
    "began": "a user began with another `verb`",
    "ended": "that verb ended well",
    "invalidated": "the same, where the verb says that lists are out of date",
    "refreshed": "the same, where the verb lists again",
    "bound": "the same, where the verb binds a tool",
    "raised": "a verb other than a call raised",
    "abandoned": "the user gave up a verb that was under way",
    "left": "a holder was torn down",
}
KINDS = {**WIRE, **SCRIPT, **WRAPPER}
"""Every kind of entry, in words."""

Kind = Literal[
    "opened",
    "closed",
    "asked",
    "answered",
    "failed",
    "told",
    "noticed",
    "listened",
    "cancelled",
    "requested",
    "replied",
    "garbled",
    "astray",
    "changed",
    "barred",
    "outlived",
    "entered",
    "wanted",
    "served",
    "called",
    "returned",
    "refused",
    "began",
    "ended",
    "invalidated",
    "refreshed",
    "bound",
    "raised",
    "abandoned",
    "left",
]


def _told(description: str, **schema: Any) -> Meta:
    return Meta(description=description, extra_json_schema=schema or None)


def _digest(description: str) -> Meta:
    return _told(f"{description}: a digest", pattern="^[0-9a-f]{16}$")


class Header(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """The first line."""

    history: Annotated[int, Meta(description="The format of the file", ge=1)]
    key: Annotated[
        str, _digest("Equal in two files whose digests were made with the same key, so that they compare")
    ]
    sees: Annotated[
        Literal["wire and wrapper", "wire"],
        _told("What was recorded: a recorder between a client and a server sees the wire alone"),
    ] = "wire and wrapper"
    clock: Annotated[
        Literal["virtual", "real"], _told("What `at` counts: seconds of virtual time, or of real time")
    ] = "virtual"
    name: Annotated[str, _told("What was played or recorded")] = ""
    kit: Annotated[str, _told("The version of the kit that wrote it")] = ""
    sdk: Annotated[str, _told("The version of mcp beside it, empty where there was none")] = ""
    era: Annotated[
        Literal["", "handshake", "modern"], _told("The protocol era that was played, empty where unknown")
    ] = ""
    claims: Annotated[
        dict[str, bool | int | float | str | list[str]],
        _told("What the wrapper promises, by the names of the claims; absent where nobody has said"),
    ] = {}


class Listed(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """One tool of a list: what a list that was handed out and one that was answered have in common."""

    name: Annotated[str, _told("The name; a very long one is cut, and ends in its digest")]
    description: Annotated[str, _digest("The description; absent where none was shown")] = ""
    input: Annotated[str, _digest("The input schema; absent where none was shown")] = ""
    output: Annotated[str, _digest("The output schema; absent where none was shown")] = ""
    whole: Annotated[str, _digest("The whole entry as it was on the wire; absent at the wrapper")] = ""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """One event."""

    n: Annotated[int, Meta(description="Its number: 1, 2, 3 and so on, in the order of the events", ge=1)]
    at: Annotated[float, _told("When, in seconds")]
    kind: Annotated[Kind, _told("What happened")]
    who: Annotated[int, Meta(description="The number of the holder, at the wrapper", ge=0)] = 0
    op: Annotated[
        int, Meta(description="The number of the verb: what begins and what ends one have the same", ge=0)
    ] = 0
    connection: Annotated[int, Meta(description="The number of the connection, at the wire", ge=0)] = 0
    server: Annotated[str, _told("The name of the server, where there are several; absent for the first")] = (
        ""
    )
    principal: Annotated[
        str,
        _told("Whoever the credentials stand for: a name of the kit's or a test's, or an ordinal"),
    ] = ""
    id: Annotated[
        int | float | str | None,
        _told("The JSON-RPC id as it was; one that is no number or short word is a digest after `~`"),
    ] = None
    method: Annotated[str, _told("The method; of an answer, the method that it answers")] = ""
    list: Annotated[
        Literal["", "tools", "prompts", "resources", "templates"], _told("The list that it is about")
    ] = ""
    generation: Annotated[
        int | None,
        _told("How many times the script had changed its tools by then; absent where there is no script"),
    ] = None
    cursor: Annotated[str, _digest("The cursor that a page was asked for by; absent for the first page")] = ""
    next: Annotated[str, _digest("The cursor of the page that follows; absent on the last page")] = ""
    ttl: Annotated[int | float | None, _told("For how many milliseconds the list may be kept")] = None
    scope: Annotated[Literal["", "private", "public", "other"], _told("By whom it may be kept")] = ""
    tools: Annotated[tuple[Listed, ...] | None, _told("The tools of the list, in its order")] = None
    more: Annotated[int, Meta(description="How many further tools are left out here", ge=0)] = 0
    lists: Annotated[
        tuple[str, ...], _told("The changes that a subscription was granted, by their names")
    ] = ()
    subscription: Annotated[
        int | float | str | None, _told("The id of the request that opened the subscription")
    ] = None
    tool: Annotated[str, _told("The name of the tool that is called or bound")] = ""
    verb: Annotated[str, _told("The verb of the adapter")] = ""
    rest: Annotated[
        int,
        Meta(
            description="Of what begins a verb: the last entry after which everything had come to rest",
            ge=0,
        ),
    ] = 0
    shown: Annotated[
        int, Meta(description="Of a call: the list that gave the tool, by the number of its entry", ge=0)
    ] = 0
    arguments: Annotated[
        str,
        _digest(
            "The arguments of a call; of another request, not a handshake, its params but `_meta` and cursor"
        ),
    ] = ""
    result: Annotated[
        str, _digest("The content of a result: equal where a call returns what was answered on the wire")
    ] = ""
    ok: Annotated[
        bool | None,
        _told(
            "Whether an answer to a call, or an ended call, is good; absent for what is no result, or none "
            "yet"
        ),
    ] = None
    outcome: Annotated[
        Literal["", "ok", "tool_error", "refused", "raised"], _told("What came of a call at the wrapper")
    ] = ""
    error: Annotated[str, _told("The type of the exception that was raised")] = ""
    code: Annotated[int | None, _told("The code of a JSON-RPC error")] = None
    version: Annotated[str, _told("The protocol version in a handshake, asked for or answered")] = ""
    how: Annotated[
        Literal["", "client", "server", "broken"],
        _told("Who closed, cancelled or wrote what is no frame; `broken` for a transport that broke"),
    ] = ""
    headers: Annotated[
        dict[str, str],
        _told("The headers of a short list that tells no secret; `mcp-session-id` is a digest"),
    ] = {}


class Footer(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The last line of a file that was finished."""

    events: Annotated[int, Meta(description="How many events there are", ge=0)]
