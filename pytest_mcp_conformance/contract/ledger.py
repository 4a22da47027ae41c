"""Request ledger (LDG): which requests went out for which call, and what became of them."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, Rule, sdk, seed

_SEED = seed("callMarker")
_LEDGER = frozenset({"request_ledger"})

REQUESTS_ARE_MATCHED_BY_MARKER_ONLY = Rule(
    id="LDG-1",
    level=MUST,
    source=_SEED,
    text="A request MUST be matched to a call by its marker only, never by its content.",
    why="Of two calls with equal arguments one is shown with the other's request.",
    if_broken=("do not compare tool and arguments", "do not take the only open call for a request's own"),
    needs=_LEDGER,
)

REQUEST_OF_NO_CALL_IS_RECORDED = Rule(
    id="LDG-2",
    level=MUST,
    source=_SEED,
    text="A request that matches no call MUST be recorded as such.",
    why="The ledger says that nothing else was sent, and something was.",
    if_broken=("record requests without a marker too",),
    needs=_LEDGER,
)

CALL_WITHOUT_A_REQUEST_IS_NOT_SENT = Rule(
    id="LDG-3",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text="A call for which no request was seen MUST be recorded as not sent.",
    why="A call that was refused before it left looks as if the tool may have run.",
    if_broken=("set the state when the request leaves, not when the call begins",),
    needs=_LEDGER,
)

IDS_ARE_OF_ONE_CONNECTION = Rule(
    id="LDG-4",
    level=MUST,
    source=KIT,
    rests_on=(_SEED, sdk("mcp", "1.30.0", "BaseSession.send_request")),
    text="A record MUST hold the request's JSON-RPC id, scoped to the connection that it went out on.",
    why="After a reconnect ids begin anew, and an answer is tied to a call of the connection before.",
    if_broken=("look ids up by connection and id together",),
    needs=_LEDGER,
)

REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS = Rule(
    id="LDG-5",
    level=MUST,
    source=KIT,
    rests_on=(_SEED, sdk("mcp", "2.3.0", "ClientSession.call_tool")),
    text="A request that the SDK adds inside a call MUST be recorded, and not as the call's request.",
    why="The call is shown with the id of a hidden `tools/list`.",
    if_broken=("do not take the last frame that left for the call's", "go by the marker, not by the task"),
    needs=_LEDGER,
)

WATCHED_SEND_KEEPS_THE_CONTRACT = Rule(
    id="LDG-6",
    level=MUST,
    source=KIT,
    rests_on=(_SEED, sdk("mcp", "2.3.0", "SessionMessage")),
    text=(
        "A watched send MUST keep the transport's contract: what it returns and raises, how long it waits, "
        "the message's metadata, the order."
    ),
    why="Watching a connection breaks it: errors vanish, headers are lost, a slow server is flooded.",
    if_broken=("raise what the send raised, as it raised it", "rebuild the message with its metadata"),
    needs=_LEDGER,
)

ONE_WATCHER_PER_CONNECTION = Rule(
    id="LDG-7",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text=(
        "A connection MUST have one watcher for all wrappers over it, which strips no marker that it cannot "
        "report to its owner."
    ),
    why="The second wrapper's calls are never seen to leave.",
    if_broken=("join the watcher that is there", "leave markers of others alone"),
    needs=_LEDGER,
)

SEND_THAT_RAISES_IS_NO_SEND = Rule(
    id="LDG-8",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text="A send that raises MUST be recorded as failed, or as of unknown delivery if it had started.",
    why="A call that may have run is sent again, or one that never left is waited for.",
    if_broken=(
        "record what the send raised, and raise it",
        "only an end that was closed before is known to send nothing",
    ),
    needs=_LEDGER,
)

ABANDONED_CALLS_LEAVE_NOTHING_OPEN = Rule(
    id="LDG-9",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text="Cancelled and abandoned calls MUST leave no open record, and the ledger is bounded.",
    why="A long-lived client fills its memory with calls that ended long ago.",
    if_broken=("close the records of a call where it ends, however it ends", "drop the oldest records"),
    needs=_LEDGER,
)

PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER = Rule(
    id="LDG-10",
    level=MUST,
    source=sdk("mcp", "2.3.0", "DirectDispatcher"),
    rests_on=(_SEED,),
    text=(
        "On a path without frames the watcher MUST sit at the dispatcher: the id is recorded as absent, and "
        "the server sees no marker."
    ),
    why="A server in the same process is handed the marker, or the ledger stumbles over a missing id.",
    if_broken=("wrap the dispatcher that the session is built over", "allow for requests without an id"),
    needs=_LEDGER,
)

ANSWERS_ARE_TIED_BY_ID = Rule(
    id="LDG-11",
    level=MUST,
    source=KIT,
    rests_on=(_SEED,),
    text="Answers MUST be tied to calls by the id that the marker taught, in whatever order they come.",
    why="The answer of the later call is booked on the earlier one.",
    if_broken=("do not pair answers in the order of the calls",),
    needs=_LEDGER,
)
