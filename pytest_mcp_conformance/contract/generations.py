"""Listing generations (LST): for which listing an SDK holds its checks, and who checks a call then.

The parts that the verbs `generations` and `listings_of` hand out:

* `await count.ask(send)` calls `send()`, awaits what it gives, and returns an object with `answer` and
  `generation`; it raises what `send` raised.
* `count.is_latest(generation)` is a bool.
* `count.unseen`, where there is one, says in words which list requests the count cannot see.
* `count.dropped()`, where there is one, is told that the SDK dropped its checks without a list request.
"""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, sdk, seed

LISTING_IS_OUT_FROM_ITS_SENDING = Rule(
    id="LST-1",
    level=MUST,
    source=seed("listingGenerations"),
    text="A `tools/list` request MUST count as out from the moment it is sent until it settles.",
    why=(
        "The SDK replaces its checks before anybody sees the answer: in between, a call is left to "
        "checks that are gone."
    ),
    if_broken=(
        "count before the first wait of the send",
        "do not wait for the answer to begin before counting",
    ),
    needs=frozenset({"generations"}),
)

EACH_SETTLED_LISTING_STARTS_ONE_GENERATION = Rule(
    id="LST-2",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "Each request that settles MUST start exactly one generation: by an answer, an error, a "
        "malformed answer, a failure while caching, a limit, a cancellation or a close."
    ),
    why=(
        "A failed listing can take the checks away too, and a generation that nobody counted looks as "
        "if they were held."
    ),
    if_broken=(
        "count in a `finally`",
        "do not count once for the failure and once more for the end",
    ),
    needs=frozenset({"generations"}),
)

LATEST_MEANS_SETTLED_LAST_AND_NOTHING_OUT = Rule(
    id="LST-3",
    level=MUST,
    source=seed("listingGenerations"),
    text="A generation MUST be called the latest only if it settled last and no request is out.",
    why="A listing that is out may replace the checks at any moment.",
    if_broken=(
        "look at what is out, not at the generation alone",
        "count what is out: of two requests one is still out when the other settles",
    ),
    needs=frozenset({"generations"}),
)

EARLIER_LISTING_STILL_OUT_COUNTS = Rule(
    id="LST-4",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "A listing opened earlier that is still out MUST keep the newest settled one from being the latest."
    ),
    why="Its late answer replaces the checks of the newer listing.",
    if_broken=("do not look only at requests that were sent after the settled one",),
    needs=frozenset({"generations"}),
)

ONE_COUNT_FOR_ONE_CLIENT = Rule(
    id="LST-5",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "There MUST be one count for each SDK client object: all wrappers over it share it, and two "
        "clients never do."
    ),
    why="One wrapper listing over a shared client takes the checks of the other away, unseen.",
    if_broken=(
        "keep the count by client, not on the wrapper",
        "do not find it by the name or address of the server",
    ),
    needs=frozenset({"listings_of"}),
)

COUNT_NEITHER_KEEPS_NOR_OUTLIVES_ITS_CLIENT = Rule(
    id="LST-6",
    level=SHOULD,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text="The count SHOULD be found by the identity of the client, neither keep it alive nor outlive it.",
    why="Clients are never freed, or a new client inherits the count of a dead one.",
    if_broken=(
        "do not use `id()` as a key without watching the object",
        "do not compare clients by equality",
        "hold the client by a weak reference",
    ),
    needs=frozenset({"listings_of"}),
)

ANSWER_COMES_WITH_ITS_OWN_GENERATION = Rule(
    id="LST-7",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "An answer MUST come with the generation that it settled at itself, not with the latest when "
        "somebody looks."
    ),
    why="An older answer passes for the newest, and its tools are left to checks that are not theirs.",
    if_broken=("take the number when the request settles, before any other wait",),
    needs=frozenset({"generations"}),
)

FAILURE_COMES_OUT_AS_IT_WAS_RAISED = Rule(
    id="LST-8",
    level=MUST,
    source=seed("listingGenerations"),
    text=("A listing that fails MUST raise what the send raised, the very exception, cancellation included."),
    why="Code, data and cause of an error are lost, or a cancelled task goes on.",
    if_broken=(
        "do not wrap",
        "do not catch a cancellation",
    ),
    needs=frozenset({"generations"}),
)

SEND_THAT_RAISES_AT_ONCE_SETTLES = Rule(
    id="LST-9",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text=(
        "A send that raises before any request goes out MUST settle like any other, and leave nothing out."
    ),
    why="One failure leaves the count above zero, and no listing is ever the latest again.",
    if_broken=("call the send inside the `try`",),
    needs=frozenset({"generations"}),
)

GENERATIONS_FOLLOW_THE_ORDER_OF_SETTLING = Rule(
    id="LST-10",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "Of two listings answered in reverse, the one that settles last MUST be the latest, though it "
        "was sent first."
    ),
    why="The SDK holds the checks of the answer that came last, whichever was asked for last.",
    if_broken=("number when a request settles, not when it is sent",),
    needs=frozenset({"generations"}),
)

WRAPPER_CHECKS_WHAT_THE_SDK_MAY_NOT = Rule(
    id="LST-11",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text=(
        "A call of a tool whose listing is not the latest, or while one is out, MUST be checked by "
        "the wrapper by its own definition."
    ),
    why="The SDK has other checks by then, or none: a wrong answer is handed out as good.",
    if_broken=(
        "check by your own definition, always or whenever the listing is not the latest",
        "look for a result without structured content as well",
    ),
    needs=frozenset({"checks_output", "generations"}),
)

SAME_FAULT_GIVES_THE_SAME_ERROR = Rule(
    id="LST-12",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text="The same bad answer MUST give the same kind of refusal, whoever checked it.",
    why="Users handle the error that they have seen, and miss the other one.",
    if_broken=("raise one error type for a failed check, from every place",),
    needs=frozenset({"checks_output", "generations"}),
)

FAILED_LISTING_LEAVES_TOOLS_CHECKED = Rule(
    id="LST-13",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text="After a failed listing, earlier tools MUST stay callable and checked.",
    why="An SDK can lose its checks by a listing that fails, and says nothing.",
    if_broken=(
        "keep your own definitions through a failed listing",
        "do not clear anything before the new listing is whole",
    ),
    needs=frozenset({"checks_output", "generations", "refresh"}),
)

TOOLS_OF_AN_EARLIER_PAGE_STAY_CHECKED = Rule(
    id="LST-14",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text=(
        "Each page is a request of its own: after the last page, tools of an earlier page MUST still "
        "be checked."
    ),
    why="The checks of an SDK can be those of the last page alone.",
    if_broken=(
        "take the definitions of all pages",
        "do not leave an earlier page to the SDK",
    ),
    needs=frozenset({"checks_output", "generations"}),
)

CHECK_IS_CHOSEN_BEFORE_THE_SEND = Rule(
    id="LST-15",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text=(
        "An answer MUST be judged by the definition that its tool was called by, whatever is listed "
        "while the call is out."
    ),
    why="A good answer is refused, or a bad one accepted, because of a listing that came in between.",
    if_broken=(
        "choose the check before the call leaves",
        "do not look it up by name when the answer is there",
    ),
    needs=frozenset({"checks_output", "generations", "refresh"}),
)

UNSEEN_LISTINGS_ARE_NO_COVERAGE = Rule(
    id="LST-16",
    level=MUST,
    source=seed("listingGenerations"),
    text=(
        "A list request that the wrapper did not send MUST be counted, or be named as a limit of the count."
    ),
    why="Somebody leans on a count that others have gone past.",
    if_broken=(
        "count every `tools/list` frame that leaves, where you can watch the transport",
        "say in `unseen` what the count cannot see",
    ),
    needs=frozenset({"listings_of"}),
)

CANCELLED_LISTING_SETTLES_AT_ITS_CANCELLATION = Rule(
    id="LST-17",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text=(
        "A cancelled listing MUST settle when it is cancelled, and its late answer starts no "
        "generation and writes nothing."
    ),
    why="A listing that nobody waits for any more changes the tools.",
    if_broken=(
        "do not go on with the request behind the back of the caller",
        "drop a late answer",
    ),
    needs=frozenset({"listings_of"}),
)

CHECKS_DROPPED_WITHOUT_A_LISTING_ARE_MISSED = Rule(
    id="LST-18",
    level=MUST,
    source=KIT,
    rests_on=(sdk("@modelcontextprotocol/client", "2.4.0", "notifications/tools/list_changed"),),
    text=(
        "Where an SDK drops its checks without a list request, on a notice for instance, the wrapper "
        "MUST count that as a settled listing and check by itself."
    ),
    why="Calls after the notice are not checked by anybody.",
    if_broken=(
        "count the notice, the close, and the hit of a shared cache",
        "or check by yourself, always",
    ),
    needs=frozenset({"checks_output", "generations", "reacts_to_list_changed"}),
)

CACHE_HIT_IS_NOT_FRESHER = Rule(
    id="LST-19",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"),),
    text=(
        "A listing handed back from a cache MUST NOT count as fresher than the last one that settled "
        "on the wire."
    ),
    why="An older check comes back, and good answers are refused.",
    if_broken=(
        "do not take schemas from a cache hit",
        "list past the cache of the SDK, or compare generations",
    ),
    needs=frozenset({"caches_listings", "checks_output", "generations", "refresh"}),
)

NOTHING_SETTLED_IS_NOT_THE_LATEST = Rule(
    id="LST-20",
    level=MUST,
    source=KIT,
    rests_on=(seed("listingGenerations"),),
    text="Before anything has settled, no generation MUST be called the latest, 0 included.",
    why="A tool that was never listed counts as checked by the SDK.",
    if_broken=("start at a number that no listing has",),
    needs=frozenset({"generations"}),
)
