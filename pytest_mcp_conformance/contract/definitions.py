"""Definition lists (DEF): what is kept of a tool, how long a list is served, and what a binding is worth.

The parts that the verbs hand out. All moments and limits are in seconds.

* `definition_of(listed)`: a definition with `name`, `listed` and `canonical`; `None` or a `ValueError` where
  the entry gives none.
* `definition_list()`: a list with `id`, `generation`, `stale`, `listed_at`, `servable(now, ttl)`,
  `invalidate()`, `definition(name)`, `tool(name)`, `all()`, and `write(began, definitions, tools, now)`,
  which says whether it wrote; `tools` are the client's own, each with a `name`, or `None` for a shared list.
  Where such a tool may be called, `await tool(arguments)`, it is worth what a binding is.
* `conversation(dial, shared=, context=, tenant=, ttl=, approve=)`: an async context manager. All but `dial`
  may be left out. What it gives has `await list_tools()`, the bindings, each with `name`, `list_id`,
  `generation` and `definition`; `await call(binding, arguments)`; `await replace()`, another client in place
  of the one in use, which is left when its last call is answered; `tools_changed()`, `permissions_changed()`
  and `reconfigure(context)`; and `own`, the list of its client. `approve(binding, arguments)` is awaited
  before each call; `context` is plain JSON by name, `ttl` the time limit of a list.
"""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, seed

DEFINITION_HOLDS_DATA_AND_NO_CLIENT = Rule(
    id="DEF-1",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A definition MUST carry name, description, input schema and `_meta` of the tool, and never "
        "the client."
    ),
    why="What is only to be shown keeps a connection alive, or lends it to somebody else.",
    if_broken=(
        "copy the data out of the object that the SDK gave",
        "keep no session, connection or callback beside it",
    ),
    needs=frozenset({"conversation", "definition_of"}),
)

DEFINITION_IS_A_FROZEN_COPY = Rule(
    id="DEF-2",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A definition MUST be a frozen copy: what happens to the listing, or to what is handed out, "
        "does not reach it."
    ),
    why="One edit changes what others see and how calls are judged.",
    if_broken=(
        "copy in depth at once",
        "hand out copies, or what cannot be changed",
    ),
    needs=frozenset({"conversation", "definition_of"}),
)

DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION = Rule(
    id="DEF-3",
    level=MUST,
    source=seed("pool/definitions"),
    text="Listed data that is not plain JSON MUST NOT give a definition, nor any other error.",
    why="A definition that cannot be written down is compared, shared and checked by accident.",
    if_broken=(
        "refuse NaN, infinity, keys that are no text, tuples, sets, bytes, functions, objects",
        "look for data that holds itself",
        "do not dump with `default=str`",
    ),
    needs=frozenset({"definition_of"}),
)

ODD_ENTRY_SPARES_THE_OTHERS = Rule(
    id="DEF-4",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "An entry that is not plain JSON MUST NOT take the other tools down, and is never served or "
        "called itself."
    ),
    why="One faulty tool makes a server unusable, or is called by a guess.",
    if_broken=(
        "freeze each entry by itself",
        "leave the entry out, with the reason",
    ),
    needs=frozenset({"conversation"}),
)

SAME_DEFINITION_MEANS_SAME_JSON = Rule(
    id="DEF-5",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="The canonical form MUST ignore the order of object keys and nothing else.",
    why="A change is not seen, or one is seen where there is none.",
    if_broken=(
        "sort keys, keep arrays in order",
        "do not compare by `==`: true is 1 there",
        "do not compare by `str()`",
    ),
    needs=frozenset({"definition_of"}),
)

LIST_BELONGS_TO_ONE_INCARNATION = Rule(
    id="DEF-6",
    level=MUST,
    source=seed("pool/definitions"),
    text="By default a list MUST belong to one client incarnation: a replacement lists again.",
    why="The list of another session is served, and its tools may not be there.",
    if_broken=(
        "make a new list with each new client",
        "do not keep lists by address or plan",
    ),
    needs=frozenset({"conversation"}),
)

BINDING_NAMES_LIST_AND_GENERATION = Rule(
    id="DEF-7",
    level=MUST,
    source=seed("pool/definitions"),
    text="A binding MUST name its list and its generation, and both must match when it is called.",
    why="A binding of an old list passes because another list has come to the same number.",
    if_broken=("compare both",),
    needs=frozenset({"conversation"}),
)

LIST_IDS_ARE_NEVER_USED_AGAIN = Rule(
    id="DEF-8",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="The id of a list MUST NOT be used again in a process.",
    why="A binding of a list that is gone fits one that took its id.",
    if_broken=("count, do not use `id()` or the context",),
    needs=frozenset({"definition_list"}),
)

FIRST_WRITE_IS_A_NEW_GENERATION = Rule(
    id="DEF-9",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A list MUST be at generation 0 until something moves it, and its first write moves it to a "
        "number that no binding has seen."
    ),
    why="A binding of before the first listing fits it by accident.",
    if_broken=("move on from where invalidations have left the number",),
    needs=frozenset({"definition_list", "definition_of"}),
)

INVALIDATION_MOVES_THE_GENERATION_AT_ONCE = Rule(
    id="DEF-10",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "Invalidation MUST move the generation at once, before anything is listed again, and mark the "
        "list stale."
    ),
    why="Old bindings are good until somebody happens to list.",
    if_broken=(
        "move the generation in the invalidation itself",
        "mark the list stale with it",
    ),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

OLDER_BINDING_IS_REFUSED_UNSENT = Rule(
    id="DEF-11",
    level=MUST,
    source=seed("pool/definitions"),
    text=("A call by an older binding MUST be refused before anything is sent, by an error of its own kind."),
    why="A tool is called that is no longer what the caller was shown.",
    if_broken=(
        "look before sending",
        "do not call the new tool of that name instead",
        "do not use the error of a failed tool",
    ),
    needs=frozenset({"conversation"}),
)

INVALIDATED_LIST_IS_LISTED_AGAIN = Rule(
    id="DEF-12",
    level=MUST,
    source=seed("pool/definitions"),
    text="The next list after an invalidation MUST ask the server, also within the time limit.",
    why="The old list is served as if nothing had been said.",
    if_broken=("look at stale before the time limit",),
    needs=frozenset({"conversation"}),
)

LISTING_IN_FLIGHT_IS_DISCARDED = Rule(
    id="DEF-13",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A listing in flight when the generation of its list moved MUST be discarded, neither written "
        "nor served."
    ),
    why="An answer of before the change is kept until the next one.",
    if_broken=("remember the generation at which it began, and compare before writing",),
    needs=frozenset({"conversation"}),
)

FIRST_LISTING_IN_FLIGHT_IS_DISCARDED = Rule(
    id="DEF-14",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "The very first listing MUST be discarded as well if its list was invalidated while it was in flight."
    ),
    why="A user begins with a list that was out of date before it came.",
    if_broken=("move the generation although nothing is written yet",),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

RELISTING_IN_FLIGHT_IS_DISCARDED = Rule(
    id="DEF-15",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A relisting for the time limit MUST be discarded as well if its list was invalidated while "
        "it was in flight."
    ),
    why="A lapse opens a hole through which an old answer comes in.",
    if_broken=("write by one way only, with one guard",),
    needs=frozenset({"conversation"}),
)

GENERATIONS_ONLY_INCREASE = Rule(
    id="DEF-16",
    level=MUST,
    source=seed("pool/definitions"),
    text="The generation of a list MUST only ever increase.",
    why="A number comes twice, and an old binding fits again.",
    if_broken=("never set it back, on stale or anywhere",),
    needs=frozenset({"definition_list", "definition_of"}),
)

WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION = Rule(
    id="DEF-17",
    level=MUST,
    source=seed("pool/definitions"),
    text="A write after an invalidation MUST keep the generation that the invalidation moved to.",
    why="Bindings are refused though nothing has changed since they were taken.",
    if_broken=("do not move once for the invalidation and once for the write",),
    needs=frozenset({"definition_list", "definition_of"}),
)

SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS = Rule(
    id="DEF-18",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "After the time limit the next list MUST ask the server, and the same list keeps generation "
        "and bindings and begins a new limit."
    ),
    why="Every limit refuses all bindings, or every list asks the server from then on.",
    if_broken=(
        "compare before moving",
        "renew the moment of writing",
    ),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON = Rule(
    id="DEF-19",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "After the time limit a list that differs MUST move the generation, so that older bindings "
        "are refused."
    ),
    why="A binding calls a tool that means something else by now.",
    if_broken=("compare whole definitions, not names",),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

LAPSE_ALONE_REFUSES_NOTHING = Rule(
    id="DEF-20",
    level=MUST,
    source=seed("pool/definitions"),
    text="A lapse alone MUST NOT refuse a binding: it is good until a relisting differs.",
    why="Long work is cut off by a clock though no tool has changed.",
    if_broken=("do not look at the time limit when a tool is called",),
    needs=frozenset({"conversation"}),
)

AGE_COUNTS_FROM_THE_WRITE = Rule(
    id="DEF-21",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A list MUST be served only if it was written, is not stale, and is younger than the limit, "
        "counted from its last write on the clock it was given."
    ),
    why="A slow listing is out of date when it arrives, or an old one is served.",
    if_broken=(
        "take the moment when the answer is written",
        "at the very end of the limit it has lapsed",
        "use the clock you were given",
    ),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

SAME_NEED_JOINS_ONE_LISTING = Rule(
    id="DEF-22",
    level=MUST,
    source=seed("pool/definitions"),
    text="Whoever needs a list that is being listed MUST join that listing: one request on the wire.",
    why="Every user sends a request of his own, all at the same moment.",
    if_broken=("keep the listing in flight with the list",),
    needs=frozenset({"conversation"}),
)

LATER_NEED_GETS_A_LATER_LISTING = Rule(
    id="DEF-23",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="A need that arises after an invalidation MUST be met by a listing that began after it.",
    why="Who asks after the change is given the answer of before.",
    if_broken=("look at the list again after the listing you joined",),
    needs=frozenset({"conversation"}),
)

ONE_LISTING_WRITES_A_LIST = Rule(
    id="DEF-24",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "At most one listing at a time MUST write a list, and what is served within one generation "
        "does not change."
    ),
    why="Two listings race, and within one generation different tools are served.",
    if_broken=(
        "list again only when the listing in flight is over",
        "a second write of one generation that differs moves it",
    ),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)

FAILED_LISTING_WRITES_NOTHING = Rule(
    id="DEF-25",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "A failed listing MUST write nothing, fail all who joined it, and leave the next need to list again."
    ),
    why="A failure is remembered for ever, or empties the list.",
    if_broken=(
        "do not keep the failed future",
        "clear nothing before the new list is whole",
    ),
    needs=frozenset({"conversation"}),
)

CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS = Rule(
    id="DEF-26",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "Cancelling one who joined a listing, the one who began it included, MUST NOT end it for the others."
    ),
    why="One user who gives up takes the tools from all.",
    if_broken=("run the listing in a task that belongs to nobody",),
    needs=frozenset({"conversation"}),
)

REFUSED_WRITE_CHANGES_NOTHING = Rule(
    id="DEF-27",
    level=MUST,
    source=seed("pool/definitions"),
    text="A refused write MUST say so and change nothing, the moment of the last write included.",
    why="A list that is out of date looks fresh.",
    if_broken=("look at the generation before touching anything",),
    needs=frozenset({"definition_list", "definition_of"}),
)

NOTICE_INVALIDATES_ITS_CLIENTS_LIST = Rule(
    id="DEF-28",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "The notice of the server that its tools changed MUST invalidate the list of the client on "
        "which it arrived."
    ),
    why="The change is announced and not heard.",
    if_broken=(
        "tie the notice to the list",
        "in the modern era: listen, and tie that",
    ),
    needs=frozenset({"conversation"}),
)

CHANGED_PERMISSIONS_INVALIDATE = Rule(
    id="DEF-29",
    level=MUST,
    source=seed("pool/definitions"),
    text="Word of the application that permissions changed MUST invalidate the list.",
    why="Tools are offered that may no longer be called, and others are missing.",
    if_broken=("do not only read the permissions again",),
    needs=frozenset({"conversation"}),
)

CHANGED_TOOLS_INVALIDATE = Rule(
    id="DEF-30",
    level=MUST,
    source=seed("pool/definitions"),
    text=("Word of the application that tools changed MUST invalidate the list: older bindings are refused."),
    why="The application knows better and is not believed.",
    if_broken=("do not treat it as a lapse",),
    needs=frozenset({"conversation"}),
)

CHANGED_CONFIGURATION_IS_A_NEW_LIST = Rule(
    id="DEF-31",
    level=MUST,
    source=seed("pool/definitions"),
    text="A changed configuration MUST be a new list, and bindings of the old one are refused.",
    why="Tools of another configuration are called.",
    if_broken=("make a new list, do not empty the old one",),
    needs=frozenset({"conversation"}),
)

LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE = Rule(
    id="DEF-32",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="A notice that arrives on a replaced client MUST NOT touch the list of the one that replaced it.",
    why="Bindings are refused because of what was said to somebody else.",
    if_broken=("let the handler know which client it belongs to",),
    needs=frozenset({"conversation"}),
)

SHARED_LIST_HANDS_OUT_NO_TOOL = Rule(
    id="DEF-33",
    level=MUST,
    source=seed("pool/definitions"),
    text="Wrapped tools MUST be kept by the own list of a client only: a shared list hands none out.",
    why="One conversation calls through the client of another.",
    if_broken=("write a shared list without tools",),
    needs=frozenset({"conversation", "definition_list", "definition_of", "shared_definitions"}),
)

PAGES_ARE_WRITTEN_ONCE_AND_WHOLE = Rule(
    id="DEF-34",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "A list in pages MUST be written once, after the last page; a failed page or a notice between "
        "pages writes nothing."
    ),
    why="Half a list is served, or one that never was.",
    if_broken=(
        "write when the walk is over",
        "look at the generation between pages",
    ),
    needs=frozenset({"conversation"}),
)

SEVERAL_NOTICES_ARE_ONE_RELISTING = Rule(
    id="DEF-35",
    level=SHOULD,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="Several notices before the relisting SHOULD cause one relisting.",
    why="A server that changes a lot is asked as often as it changes.",
    if_broken=("only take note of a notice, and list at the next need",),
    needs=frozenset({"conversation"}),
)

BINDING_IS_CHECKED_AFTER_EVERY_WAIT = Rule(
    id="DEF-36",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="A binding MUST be checked at each call, after any wait and just before the send.",
    why="A call that waited for approval is sent to a tool that has changed meanwhile.",
    if_broken=("check again after the wait",),
    needs=frozenset({"conversation"}),
)

CALL_ON_THE_WIRE_IS_LEFT_ALONE = Rule(
    id="DEF-37",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "A call that is out when its list is invalidated MUST be neither recalled nor sent again, and "
        "is judged by its own definition."
    ),
    why="The tool runs twice, or its result is lost.",
    if_broken=(
        "end nothing on a notice",
        "judge by the definition that the binding holds",
    ),
    needs=frozenset({"conversation"}),
)

ONE_NAME_IS_ONE_DEFINITION = Rule(
    id="DEF-38",
    level=SHOULD,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "Two entries of one name in an answer SHOULD give one definition, the same for serving, "
        "binding and checking."
    ),
    why="One is shown, and answers are judged by the other.",
    if_broken=("let one of them win, everywhere: SDKs take the last",),
    needs=frozenset({"conversation", "definition_list", "definition_of"}),
)
