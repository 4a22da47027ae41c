"""Call marker (MRK): what ties a call to the requests sent for it, and never leaves the client."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MODERN, MUST, SHOULD, Rule, sdk, seed

_SEED = seed("callMarker")
_FUNCTIONS = frozenset({"mark_params", "take_marker"})
_LEDGER = frozenset({"request_ledger"})

MARKING_MAKES_NEW_PARAMS = Rule(
    id="MRK-1",
    level=MUST,
    source=_SEED,
    text="Marking MUST return a new object, and change neither the params nor their `_meta`.",
    why="A caller who reuses params sends the marker of an older call.",
    if_broken=("copy `_meta` before adding to it", "return new params, also where `_meta` was there"),
    needs=_FUNCTIONS,
)

MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE = Rule(
    id="MRK-2",
    level=MUST,
    source=_SEED,
    text="Marking MUST keep every other key in its place; a `_meta` that was absent comes after the others.",
    why="The frame's bytes differ from what the server always got.",
    if_broken=("write `_meta` where it stood, and last where it was absent",),
    needs=_FUNCTIONS,
)

EVERY_CALL_HAS_ITS_OWN_MARKER = Rule(
    id="MRK-3",
    level=MUST,
    source=_SEED,
    text="Each call MUST have a marker of its own: two equal calls at one moment are told apart.",
    why="One call is shown with the request and the result of the other.",
    if_broken=("do not make the marker from the tool and its arguments", "make a new marker for each call"),
    needs=_LEDGER,
)

MARKER_OUTLIVES_COPIES = Rule(
    id="MRK-4",
    level=MUST,
    source=_SEED,
    text="The marker MUST be a string inside `_meta`, so that a copy of the params still carries it.",
    why="An SDK that copies the params loses the call.",
    if_broken=("do not find calls by the identity of an object", "put a plain string into `_meta`"),
    needs=_FUNCTIONS,
)

MARKER_IS_NEVER_SERIALISED = Rule(
    id="MRK-5",
    level=MUST,
    source=_SEED,
    text="No transport MUST ever be given the marker to serialise.",
    why="The server, and everybody on the way, reads what was meant for this client alone.",
    if_broken=(
        "take the marker out of every request, whatever its method",
        "take it out of a request that is sent again, too",
    ),
    needs=_LEDGER,
)

TAKING_CHANGES_NO_MESSAGE = Rule(
    id="MRK-6",
    level=MUST,
    source=_SEED,
    text="Taking the marker MUST NOT change the message in place.",
    why="The message is the SDK's: a resend would go out without its marker.",
    if_broken=("build a new message without the key", "do not delete from `params` or `_meta`"),
    needs=_FUNCTIONS,
)

UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF = Rule(
    id="MRK-7",
    level=MUST,
    source=_SEED,
    text="A message without a marker MUST be passed on as the same object.",
    why="A copy loses what the SDK or a transport tied to the object.",
    if_broken=("return the message itself where nothing was taken",),
    needs=_FUNCTIONS,
)

META_OF_THE_MARKER_ALONE_IS_REMOVED = Rule(
    id="MRK-8",
    level=MUST,
    source=_SEED,
    text="A `_meta` that the marker alone filled MUST be removed whole.",
    why="The server gets an empty `_meta` that nobody sent.",
    if_broken=("remove `_meta` where the marker brought it and nothing else is in it",),
    needs=_FUNCTIONS,
)

OTHER_META_ENTRIES_ARE_KEPT = Rule(
    id="MRK-9",
    level=MUST,
    source=_SEED,
    text=(
        "Every other `_meta` entry, the SDK's and the caller's, MUST keep its value and its place: progress "
        "tokens, stamps, trace context."
    ),
    why="Progress, traces or the stamps of the protocol are lost on the way.",
    if_broken=("remove one key, and leave the rest", "do not build `_meta` anew from the caller's"),
    needs=_FUNCTIONS,
)

ODD_MESSAGES_PASS_UNTOUCHED = Rule(
    id="MRK-10",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text=(
        "Odd messages MUST pass untouched: without params, with params or `_meta` that are no objects, "
        "responses, notifications, arrays."
    ),
    why="An error in the send path breaks a connection for a message that was none of the marker's business.",
    if_broken=("look at the kinds of `params` and `_meta` before reading them",),
    needs=_FUNCTIONS,
)

RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER = Rule(
    id="MRK-11",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text=(
        "A caller's own value under the reserved key MUST NOT be taken for a marker, and MUST NOT be sent as "
        "one."
    ),
    why="A caller's value is lost without a word, or is matched to another call.",
    if_broken=("refuse the key when the call is made, with a clear error",),
    needs=_LEDGER,
)

ONLY_A_STRING_IS_A_MARKER = Rule(
    id="MRK-12",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text="A value under the reserved key that is no string MUST NOT be taken for a marker.",
    why="A value such as `true` or 1 is matched to some call.",
    if_broken=("test that the value is a string before taking it",),
    needs=_FUNCTIONS,
)

REQUEST_WITHOUT_ITS_META_GOES_OUT = Rule(
    id="MRK-13",
    level=MUST,
    source=_SEED,
    text="Where the SDK drops `_meta`, the request MUST go out all the same, and matches no call.",
    why="An update of the SDK stops every call, or ties requests to the wrong ones.",
    if_broken=("pass a request without a marker on", "do not guess whose request it is"),
    needs=_LEDGER,
)

EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN = Rule(
    id="MRK-14",
    level=MUST,
    source=sdk("mcp", "2.3.0", "Client.call_tool"),
    rests_on=(_SEED, sdk("@modelcontextprotocol/client", "2.4.0", "Client.callTool")),
    text=(
        "One call may send several requests with one marker, for input rounds or HEADER_MISMATCH: each MUST "
        "be stripped and recorded as an attempt of that call."
    ),
    why="The second request leaks the marker, or is nobody's.",
    if_broken=("expect a marker more than once", "keep the call open until it ends, not until it is sent"),
    needs=_LEDGER,
    eras=MODERN,
)

FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED = Rule(
    id="MRK-15",
    level=MUST,
    source=_SEED,
    text=(
        "With the marker removed, the frame MUST equal that of the unmarked call: as JSON always, in its "
        "bytes where the SDK keeps the order of keys."
    ),
    why="The server sees a difference between clients that there should not be.",
    if_broken=("rebuild the message from all its params", "keep the order of the params"),
    needs=_LEDGER,
)

EMPTY_META_OF_A_CALLER_STAYS = Rule(
    id="MRK-16",
    level=SHOULD,
    source=KIT,
    rests_on=(_SEED,),
    text="A caller's empty `_meta` SHOULD stay what the SDK would have sent for it.",
    why="The frame differs from that of the unmarked call.",
    if_broken=("remember, when marking, whether there was a `_meta`",),
    needs=_FUNCTIONS,
)

MARKERS_REVEAL_NOTHING = Rule(
    id="MRK-17",
    level=SHOULD,
    source=KIT,
    rests_on=(_SEED,),
    text="Markers SHOULD be unique in the process, and reveal nothing of their call.",
    why="A marker that leaks tells of the call, and two that are equal mix up two calls.",
    if_broken=("do not count from 1 on each connection", "make markers at random"),
    needs=_LEDGER,
)
