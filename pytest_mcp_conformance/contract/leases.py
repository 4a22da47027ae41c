"""Listings on a lease (OPN): whose tools a shared connection keeps checks for, and by which listing."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, sdk, seed

_POOL = seed("mcp-connection-pool")

VERSION_IS_THE_ORDER_OF_OPENING = Rule(
    id="OPN-1",
    level=MUST,
    source=_POOL,
    text=(
        "A listing's version MUST be its place in the order in which listings were opened on the "
        "connection, across legs, fixed before the request."
    ),
    why="What the server said first passes for the newest because its answer was slow.",
    if_broken=(
        "take the number when the listing is opened",
        "count once a connection, not once a leg",
    ),
    needs=frozenset({"pool"}),
)

EARLIER_LISTING_OVERWRITES_NOTHING = Rule(
    id="OPN-2",
    level=MUST,
    source=_POOL,
    text=(
        "A listing that was opened earlier MUST NOT overwrite what a later one wrote, whichever answer "
        "arrives first."
    ),
    why="Calls are judged by a definition that the server has replaced.",
    if_broken=("compare versions before writing a record",),
    needs=frozenset({"pool"}),
)

ORDER_IS_KEPT_FOR_EACH_TOOL = Rule(
    id="OPN-3",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "The order of listings MUST be kept for each tool: a late earlier listing still writes what no "
        "later one wrote."
    ),
    why="A tool that only one leg mounted loses its checks.",
    if_broken=("keep the version with each record, not with the whole",),
    needs=frozenset({"pool"}),
)

RETAINED_NAMES_WRITE_NO_RECORD = Rule(
    id="OPN-4",
    level=MUST,
    source=_POOL,
    text="Names that a listing did not return MUST stay mounted and write no record.",
    why="An old definition passes for a new one, or a tool that is still in use loses its checks.",
    if_broken=(
        "leave retained names out when writing records",
        "count them in for the membership",
    ),
    needs=frozenset({"pool"}),
)

MEMBERSHIP_IS_THE_LEGS_OWN = Rule(
    id="OPN-5",
    level=MUST,
    source=_POOL,
    text="A listing MUST set the membership of the leg that made it, and no sibling's.",
    why="A leg that mounts a few tools takes the checks of all the others away.",
    if_broken=("keep the mounted names with the lease, not with the connection",),
    needs=frozenset({"pool"}),
)

APPLY_GETS_ALL_THAT_IS_MOUNTED = Rule(
    id="OPN-6",
    level=MUST,
    source=_POOL,
    text="`apply` MUST get what is known of every tool that some holder mounted, in full, each time.",
    why="The SDK clears its checks at each write, and the tools of the other legs go unchecked.",
    if_broken=(
        "pass the union of what the holders mounted",
        "pass the newest record of each, whoever brought it",
    ),
    needs=frozenset({"pool"}),
)

APPLY_GETS_NOTHING_UNMOUNTED = Rule(
    id="OPN-7",
    level=MUST,
    source=_POOL,
    text="A name that no holder mounts MUST NOT be in what `apply` gets.",
    why="Checks pile up for tools that nobody uses any more.",
    if_broken=("pass mounted names only, not everything that was ever listed",),
    needs=frozenset({"pool"}),
)

RELEASE_REWRITES_FROM_THE_SAME_RECORDS = Rule(
    id="OPN-8",
    level=MUST,
    source=_POOL,
    text="A release MUST change the membership only, and write the checks anew from the same records.",
    why="A leg that leaves takes away or sets back what the others are judged by.",
    if_broken=(
        "call `apply` at a release, with what the others mounted",
        "leave records and versions alone at a release",
    ),
    needs=frozenset({"pool"}),
)

UNWRITTEN_LISTING_CHANGES_NOTHING = Rule(
    id="OPN-9",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="A listing that failed, whose writer is never called, MUST change nothing.",
    why="One failed request leaves every leg without checks.",
    if_broken=("change nothing when a listing is opened",),
    needs=frozenset({"pool"}),
)

WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING = Rule(
    id="OPN-10",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="A writer that is called after its lease was released MUST write nothing and mount nothing.",
    why="Names of a leg that is gone stay mounted for ever.",
    if_broken=("ask whether the lease is released before writing",),
    needs=frozenset({"pool"}),
)

FAILING_APPLY_COSTS_NOBODY_ELSE = Rule(
    id="OPN-11",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "An `apply` that raises MUST cost neither the records nor the siblings' checks, and the leg "
        "that brought it is told."
    ),
    why="One leg's bad schema leaves the checks of all legs cleared.",
    if_broken=(
        "write again without the tool that cannot be written",
        "raise to the leg that brought it",
    ),
    needs=frozenset({"pool"}),
)

WRITER_USED_TWICE_IS_NO_NEWER = Rule(
    id="OPN-12",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "A writer that is used twice SHOULD be refused, or write at the same version, and never at a "
        "newer one."
    ),
    why="An old answer that is written again overtakes a newer one.",
    if_broken=("keep the version in the writer",),
    needs=frozenset({"pool"}),
)

NEW_CONNECTION_STARTS_EMPTY = Rule(
    id="OPN-13",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "A connection that was dialled anew MUST start without records, versions or members of the one "
        "before."
    ),
    why="Calls are judged by what another incarnation of the server said.",
    if_broken=("keep the records with the connection, not under the key",),
    needs=frozenset({"pool"}),
)

LATER_LISTING_DECIDES_THE_MEMBERSHIP = Rule(
    id="OPN-14",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "Of two listings of one leg the later opened one MUST decide what the leg mounts, whichever "
        "answer arrives first."
    ),
    why="Tools that the leg dropped come back, and those that it mounted lose their checks.",
    if_broken=("keep the version with the membership as well",),
    needs=frozenset({"pool"}),
)

GONE_NAMES_ARE_GONE_FROM_THE_CHECKS = Rule(
    id="OPN-15",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"), _POOL),
    text=(
        "What calls are judged by MUST lose the names that nobody mounts any more, also where an SDK's "
        "own cache only grows."
    ),
    why="A call is judged by the definition of a tool that was unmounted long ago.",
    if_broken=(
        "replace the whole of the checks instead of merging into them",
        "where the SDK's cache cannot be written, judge by a definition of your own",
    ),
    needs=frozenset({"pool"}),
)
