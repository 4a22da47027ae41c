"""Shared definitions (SHR): who may be served from a list that somebody else had listed.

The verb `shared_definitions(max_entries, max_tools)` hands out the entries of one contract: `size`,
`entry_for(context, tenant)` and `peek(context, tenant)`, which give an entry with `list` and `tenant`, and
`invalidate(matches)`. They are given to conversations as `shared`; see the area DEF.
"""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, seed

SHARING_IS_ASKED_FOR = Rule(
    id="SHR-1",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "Definitions MUST be shared only where the application asked for it; by default each "
        "conversation lists."
    ),
    why="Two users of one address are given each other's tools.",
    if_broken=("do not share by address",),
    needs=frozenset({"conversation"}),
)

ONE_ENTRY_A_CONTEXT = Rule(
    id="SHR-2",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "Where sharing was asked for, there MUST be one entry a context: the second conversation is "
        "served without a request."
    ),
    why="Sharing that lists every time is none.",
    if_broken=(
        "find the entry by its context",
        "do not copy it into each conversation",
    ),
    needs=frozenset({"conversation", "shared_definitions"}),
)

CALLS_ARE_NEVER_SHARED = Rule(
    id="SHR-3",
    level=MUST,
    source=seed("pool/definitions"),
    text="Each conversation MUST call through a connection of its own, whoever listed.",
    why="A call runs with the rights of somebody else.",
    if_broken=("keep the client out of the entry",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

WHO_NEEDS_THE_LIST_LISTS = Rule(
    id="SHR-4",
    level=MUST,
    source=seed("pool/definitions"),
    text="A shared entry MUST be listed on the client of whichever conversation needs it.",
    why="The entry dies with the conversation that made it.",
    if_broken=("list on the client of the one who asks now",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

ENTRIES_ARE_BOUNDED = Rule(
    id="SHR-5",
    level=MUST,
    source=seed("pool/definitions"),
    text="There MUST be no more entries than the bound, and the least recently used one goes first.",
    why="Memory grows with every context, or the entry in use is dropped.",
    if_broken=(
        "drop when one is made",
        "order by use, not by age",
    ),
    needs=frozenset({"shared_definitions"}),
)

A_HIT_IS_A_USE = Rule(
    id="SHR-6",
    level=MUST,
    source=seed("pool/definitions"),
    text="Asking for an entry MUST make it the most recently used, also when it was there.",
    why="The busiest context is dropped first.",
    if_broken=("move the entry to the end on a hit",),
    needs=frozenset({"shared_definitions"}),
)

PEEK_MAKES_NOTHING = Rule(
    id="SHR-7",
    level=MUST,
    source=seed("pool/definitions"),
    text="Looking whether there is an entry MUST NOT make one.",
    why="A question pushes a good entry out.",
    if_broken=("do not look by get-or-create",),
    needs=frozenset({"shared_definitions"}),
)

BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED = Rule(
    id="SHR-8",
    level=MUST,
    source=seed("pool/definitions"),
    text="Bindings of a dropped entry MUST be refused with nothing sent, though its list never changed.",
    why="Nobody hears of changes for a list that is in no table.",
    if_broken=(
        "find the list by its context at each call",
        "do not keep the list with the binding",
    ),
    needs=frozenset({"conversation", "shared_definitions"}),
)

ENTRY_MADE_AGAIN_IS_A_NEW_LIST = Rule(
    id="SHR-9",
    level=MUST,
    source=seed("pool/definitions"),
    text="An entry made again for a context MUST be a new list that no older binding fits.",
    why="A binding of the entry that was dropped fits by its number.",
    if_broken=("give each list an id of its own",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

DROPPED_LISTING_REACHES_NO_OTHER_ENTRY = Rule(
    id="SHR-10",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "A listing in flight for a dropped entry MUST NOT be written to another, and who needed it is "
        "served from the current one."
    ),
    why="An entry is filled by a listing that began for another.",
    if_broken=(
        "write to the list, not by context",
        "look the entry up again after the listing",
    ),
    needs=frozenset({"conversation", "shared_definitions"}),
)

LONG_LIST_IS_NOT_SHARED = Rule(
    id="SHR-11",
    level=MUST,
    source=seed("pool/definitions"),
    text=(
        "A list longer than the bound MUST be used by its own client and not shared; one of exactly "
        "the bound is."
    ),
    why="A huge list fills the memory of all, or its client is left without tools.",
    if_broken=(
        "share up to and including the bound",
        "do not cut the list",
    ),
    needs=frozenset({"conversation", "shared_definitions"}),
)

LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE = Rule(
    id="SHR-12",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "When a relisting grows past the bound, the entry MUST be served no more, and its bindings "
        "are refused."
    ),
    why="The old short list is served for ever.",
    if_broken=("drop the entry, and invalidate it",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

ONLY_A_WHOLE_LIST_IS_SHARED = Rule(
    id="SHR-13",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="A list with an entry that is not plain JSON MUST NOT be shared.",
    why="Part of a list is shared as if it were the whole.",
    if_broken=("share only what could be copied whole",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

INVALIDATION_HITS_WHAT_MATCHES = Rule(
    id="SHR-14",
    level=MUST,
    source=seed("pool/definitions"),
    text="Invalidation by a condition MUST hit every entry that it selects and no other.",
    why="Some keep old tools, or all list again because of one.",
    if_broken=("ask of each entry",),
    needs=frozenset({"shared_definitions"}),
)

TENANTS_NEVER_SHARE_AN_ENTRY = Rule(
    id="SHR-15",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "Two tenants MUST NOT share an entry, whatever the context is and whatever separators names contain."
    ),
    why="One tenant is shown the tools of another.",
    if_broken=("do not join the parts of a key",),
    needs=frozenset({"shared_definitions"}),
)

NOTICE_ON_ANY_CLIENT_IS_FOR_ALL = Rule(
    id="SHR-16",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "A notice on the client of any conversation MUST invalidate the shared entry for all of them at once."
    ),
    why="The others call tools that have changed.",
    if_broken=("invalidate the entry, not the view of one conversation",),
    needs=frozenset({"conversation", "shared_definitions"}),
)

DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS = Rule(
    id="SHR-17",
    level=MUST,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text="If the client that runs a shared listing dies, the others MUST list on their own clients.",
    why="One lost connection fails everybody, or leaves them waiting.",
    if_broken=(
        "do not take the loss of another client for your own",
        "keep nothing of a failed listing",
    ),
    needs=frozenset({"conversation", "shared_definitions"}),
)

FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE = Rule(
    id="SHR-18",
    level=SHOULD,
    source=KIT,
    rests_on=(seed("pool/definitions"),),
    text=(
        "An empty entry whose listing failed SHOULD NOT take the place of a good one for longer than "
        "the listing."
    ),
    why="A few failing servers empty the whole table.",
    if_broken=("remove the entry when its first listing fails",),
    needs=frozenset({"conversation", "shared_definitions"}),
)
