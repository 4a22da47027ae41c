"""The connection pool (POOL): one connection a key, leased to many, closed by the last of them."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, seed

_POOL = seed("mcp-connection-pool")

ONE_KEY_IS_ONE_CONNECTION = Rule(
    id="POOL-1",
    level=MUST,
    source=_POOL,
    text="Legs that lease under one key MUST share one connection.",
    why="Each leg starts a process, asks for an authorisation or takes a lock of its own.",
    if_broken=(
        "look the key up before dialling",
        "keep the connection under the key it was dialled for",
    ),
    needs=frozenset({"pool"}),
)

DIAL_UNDER_WAY_IS_SHARED = Rule(
    id="POOL-2",
    level=MUST,
    source=_POOL,
    text="A lease that is asked for while its key is being dialled MUST wait for that dial.",
    why="Legs that start together dial a connection each, and all but one are never used again.",
    if_broken=(
        "keep the dial itself under the key, from before its first wait",
        "do not take a key without a connection for one without a dial",
    ),
    needs=frozenset({"pool"}),
)

KEYS_SHARE_NOTHING = Rule(
    id="POOL-3",
    level=MUST,
    source=_POOL,
    text="Different keys MUST NOT share a connection or a dial.",
    why="One principal's calls are carried out with another's rights.",
    if_broken=(
        "use the whole key, not the server's name",
        "look at dials under way as well as at open connections",
    ),
    needs=frozenset({"pool"}),
)

FAILED_DIAL_FAILS_ITS_WAITERS_ALONE = Rule(
    id="POOL-4",
    level=MUST,
    source=_POOL,
    text=(
        "A dial that fails MUST fail every waiter of it with that very error, and leave nothing: the "
        "next acquire dials."
    ),
    why=("A server that was down for a second stays unreachable for the whole run, or a leg waits for ever."),
    if_broken=(
        "drop a dial from the table when it has failed",
        "hand the outcome of a dial to everybody who waits for it",
    ),
    needs=frozenset({"pool"}),
)

LAST_RELEASE_CLOSES = Rule(
    id="POOL-5",
    level=MUST,
    source=_POOL,
    text=(
        "The last holder's release MUST close the connection, once, and end when it is closed; no "
        "earlier release closes it."
    ),
    why="Processes are left behind, or one leg takes the connection from under another.",
    if_broken=(
        "count holders, not acquires",
        "await the close inside the last release",
    ),
    needs=frozenset({"pool"}),
)

RELEASE_TWICE_IS_ONCE = Rule(
    id="POOL-6",
    level=MUST,
    source=_POOL,
    text="A second release by one holder MUST NOT give back another's hold.",
    why="A leg that tidies up twice closes the connection of a leg that is at work.",
    if_broken=(
        "let the lease remember that it was released",
        "keep a set of leases, not a number",
    ),
    needs=frozenset({"pool"}),
)

RELEASES_AT_ONCE_ARE_ONE = Rule(
    id="POOL-7",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="Releases of one lease that run at the same time MUST count as one.",
    why="Dispose and cancellation meet, and a sibling loses its connection.",
    if_broken=("mark the lease as released before the first await of release",),
    needs=frozenset({"pool"}),
)

NOTHING_IS_HELD_BETWEEN_LEASES = Rule(
    id="POOL-8",
    level=MUST,
    source=_POOL,
    text="Between leases the pool MUST hold nothing: after the last release the next acquire dials.",
    why="A process or a lock outlives everybody who wanted it.",
    if_broken=(
        "drop the connection from the table with its last holder",
        "keep no connection warm",
    ),
    needs=frozenset({"pool"}),
)

CLOSING_CONNECTION_IS_NOT_LEASED = Rule(
    id="POOL-9",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "An acquire that arrives while the last release is closing the connection MUST NOT get that "
        "connection."
    ),
    why="The leg's first request fails on a connection that is going away.",
    if_broken=("take the connection out of the table before awaiting its close",),
    needs=frozenset({"pool"}),
)

CLOSED_POOL_GRANTS_NOTHING = Rule(
    id="POOL-10",
    level=MUST,
    source=_POOL,
    text="After `close()` an acquire MUST resolve to nothing, without a dial and without an error.",
    why="A member that outlives its run gets an error, or a connection that nobody will close.",
    if_broken=(
        "ask whether the pool is closed before looking anything up",
        "return None, for the caller dials for itself",
    ),
    needs=frozenset({"pool"}),
)

CLOSE_SPARES_HELD_CONNECTIONS = Rule(
    id="POOL-11",
    level=MUST,
    source=_POOL,
    text="`close()` MUST leave held connections open until their holders release them.",
    why="Legs that are still at work lose their calls when the run is wound up.",
    if_broken=(
        "let close() only refuse what is asked for later",
        "close each connection with its last holder, before and after close()",
    ),
    needs=frozenset({"pool"}),
)

CLOSE_DURING_A_DIAL_GRANTS_NOTHING = Rule(
    id="POOL-12",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "`close()` during a dial MUST grant no lease of it: waiters get nothing or the dial's error, "
        "and what was dialled is closed."
    ),
    why="A connection comes up after everybody has gone, and nobody ever closes it.",
    if_broken=(
        "ask again whether the pool is closed when the dial has ended",
        "close what was dialled for nobody",
    ),
    needs=frozenset({"pool"}),
)

DETACH_MAKES_THE_NEXT_LEASE_DIAL = Rule(
    id="POOL-13",
    level=MUST,
    source=_POOL,
    text="After `detach(key)` the next lease MUST dial, and present holders keep theirs.",
    why="A connection that was given up goes on being handed out, or is closed under those who use it.",
    if_broken=(
        "take the connection out of the table and leave it open",
        "let its holders count it down as before",
    ),
    needs=frozenset({"pool"}),
)

DETACHED_DIAL_IS_NOT_PUBLISHED = Rule(
    id="POOL-14",
    level=MUST,
    source=_POOL,
    text=(
        "A dial that ends after its key was detached MUST serve the legs that wait for it already, and "
        "be leased to nobody else."
    ),
    why="The connection that was to be replaced comes back, or legs fail that could have gone on.",
    if_broken=(
        "compare the table's dial with the one that ended before publishing",
        "do not fail the waiters of a detached dial",
    ),
    needs=frozenset({"pool"}),
)

DETACHED_DIAL_IS_NOT_JOINED = Rule(
    id="POOL-15",
    level=MUST,
    source=_POOL,
    text="An acquire after the detach MUST NOT join the dial that began before it.",
    why="A leg gets a connection that was dialled by what is known to be out of date.",
    if_broken=("take the dial out of the table at detach, not only the connection",),
    needs=frozenset({"pool"}),
)

DETACHED_DIAL_IS_ONE_CONNECTION = Rule(
    id="POOL-16",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="The waiters of one detached dial MUST share one connection, which the last of them closes.",
    why="The first of them to end takes the connection from the others.",
    if_broken=("count the holders of a connection that is not in the table in the same way",),
    needs=frozenset({"pool"}),
)

FRESH_REPLACES_AND_SPARES_HOLDERS = Rule(
    id="POOL-17",
    level=MUST,
    source=_POOL,
    text=(
        "`fresh` MUST dial a new connection, and leave the old one open until its other holders release it."
    ),
    why=("A leg that found the connection bad gets it again, or the others lose calls that were going well."),
    if_broken=(
        "do not close the old connection at a fresh dial",
        "do not let a fresh acquire join a dial that began before it",
    ),
    needs=frozenset({"pool"}),
)

FRESH_CONNECTION_IS_THE_CURRENT_ONE = Rule(
    id="POOL-18",
    level=MUST,
    source=_POOL,
    text="A plain acquire after a fresh one MUST get the new connection, or wait for its dial.",
    why="Legs go on getting the connection that was found bad.",
    if_broken=(
        "put the fresh dial in the place of the old connection when it begins",
        "do not let an older dial that ends later take that place",
    ),
    needs=frozenset({"pool"}),
)

RELEASE_OF_THE_OLD_SPARES_THE_NEW = Rule(
    id="POOL-19",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "The last release of a replaced connection MUST close only that one, and leave the new one leasable."
    ),
    why="The new connection is dropped from the pool with the old one, and everybody dials again.",
    if_broken=("take a connection out of the table only if it is the one that is there",),
    needs=frozenset({"pool"}),
)

RELEASE_OF_THE_OLD_SPARES_THE_DIAL = Rule(
    id="POOL-20",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="The last release of the old connection during a fresh dial MUST NOT disturb that dial.",
    why="What was dialled is published nowhere and stays open, or the legs dial once more.",
    if_broken=("do not clear the table of dials by key when a connection is released",),
    needs=frozenset({"pool"}),
)

FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK = Rule(
    id="POOL-21",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "After a fresh dial that failed the old connection MUST stay with its holders only, and the "
        "next acquire dials."
    ),
    why="The connection that was found bad is handed out again, or closed under those who use it.",
    if_broken=(
        "do not put the old connection back when the fresh dial fails",
        "touch no holder when a dial fails",
    ),
    needs=frozenset({"pool"}),
)

FRESH_DIALS_AT_ONCE_LEAVE_NO_ORPHAN = Rule(
    id="POOL-22",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "Two fresh acquires at once SHOULD share one new dial, and leave no connection open that "
        "nobody holds."
    ),
    why=(
        "Each leg of a run that meets a bad connection dials, and some of the connections are never closed."
    ),
    if_broken=(
        "join a fresh dial that is under way",
        "let a connection that was never published close with its last holder",
    ),
    needs=frozenset({"pool"}),
)

EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE = Rule(
    id="POOL-23",
    level=MUST,
    source=_POOL,
    text="When the connection closes under a lease, every `on_close` of every holder MUST run once.",
    why="A leg waits for a server that is gone, or winds itself up twice.",
    if_broken=(
        "call the listeners of every lease, not of the first",
        "watch the connection for its close",
    ),
    needs=frozenset({"pool"}),
)

OWN_RELEASE_TELLS_NOBODY = Rule(
    id="POOL-24",
    level=MUST,
    source=_POOL,
    text="`on_close` MUST NOT run for the lease's own release, last or not, nor after it.",
    why="A leg that ends in good order reports that its server died.",
    if_broken=(
        "forget the listeners at release",
        "tell a close of your own from one that came from outside",
    ),
    needs=frozenset({"pool"}),
)

DEAD_CONNECTION_IS_NOT_LEASED = Rule(
    id="POOL-25",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="A connection that has closed MUST NOT be leased, from the moment at which that can be seen.",
    why="The leg's first request fails, though a dial would have helped.",
    if_broken=(
        "ask the connection whether it has closed before leasing it",
        "drop it in the step in which it is seen closed",
    ),
    needs=frozenset({"pool"}),
)

RELEASE_AFTER_THE_DEATH_IS_NOTHING = Rule(
    id="POOL-26",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "A release after the connection died MUST be nothing, and leave a later connection of that key alone."
    ),
    why="Legs that tidy up after a crash close the connection that replaced the dead one.",
    if_broken=("let a release touch its own connection only",),
    needs=frozenset({"pool"}),
)

LISTENERS_STAND_ALONE = Rule(
    id="POOL-27",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "An `on_close` that raises SHOULD stop neither the others nor the pool, and one registered "
        "after the close SHOULD run soon."
    ),
    why="One leg's fault keeps the others waiting, or a leg that registers late never learns.",
    if_broken=(
        "catch what each listener raises",
        "call at once what is registered on a dead connection",
    ),
    needs=frozenset({"pool"}),
)

CANCELLED_WAITER_LEAVES_ALONE = Rule(
    id="POOL-28",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "Cancelling one waiter of a dial MUST leave the dial to the others, and what is dialled for "
        "nobody is closed."
    ),
    why="One leg that gives up fails its siblings, or leaves a connection that nobody closes.",
    if_broken=(
        "dial in a task of the pool's own",
        "close what was dialled when the last waiter has gone",
    ),
    needs=frozenset({"pool"}),
)

LIVE_COUNTS_OPEN_CONNECTIONS = Rule(
    id="POOL-29",
    level=MUST,
    source=_POOL,
    text="`live` MUST count the open connections, replaced ones that are held included, and return to 0.",
    why="Tests and monitors that look for leaks see none.",
    if_broken=(
        "count connections, not keys",
        "stop counting a connection when it has closed, however it closed",
    ),
    needs=frozenset({"pool"}),
)

ELICITATION_IS_NEVER_POOLED = Rule(
    id="POOL-30",
    level=MUST,
    source=_POOL,
    text="The connection of a server that opted in to elicitation MUST NOT be shared.",
    why="A question is put to a leg that does not know what it is about.",
    if_broken=(
        "give such a declaration no key, and no lease without a key",
        "let the caller dial for itself",
    ),
    needs=frozenset({"pool", "key_of"}),
)

ONLY_THE_CONNECTION_IS_SHARED = Rule(
    id="POOL-31",
    level=MUST,
    source=_POOL,
    text=(
        "Only the connection MUST be shared: what a leg got from its lease is its own, and of no use "
        "after its release."
    ),
    why="A leg that ended goes on calling, or its counters and listeners show up in another's account.",
    if_broken=(
        "make a lease for each leg, not one for each connection",
        "refuse the client of a lease that was released",
    ),
    needs=frozenset({"pool"}),
)

DISPOSE_ALWAYS_RELEASES = Rule(
    id="POOL-32",
    level=MUST,
    source=_POOL,
    text=(
        "A leg's hold MUST be given back when the leg is disposed of, whether it ended, failed, was "
        "cancelled or was parked."
    ),
    why="The connections of legs that went wrong are never closed.",
    if_broken=(
        "release in a finally, or use the lease as a context manager",
        "shield the release from the leg's own cancellation",
    ),
    needs=frozenset({"pool"}),
)

BAD_CLOSE_WEDGES_NOTHING = Rule(
    id="POOL-33",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text="A close that raises or hangs SHOULD NOT leave the connection leasable, nor hold up other keys.",
    why="One server that does not go away takes the whole pool with it.",
    if_broken=(
        "take the connection out of the table before closing it",
        "bound the close, and hold no lock while it runs",
    ),
    needs=frozenset({"pool"}),
)

NO_HANDLE_OUTLIVES_THE_RUN = Rule(
    id="POOL-34",
    level=MUST,
    source=_POOL,
    text=(
        "A lease or pool MUST NOT be recorded anywhere outside its run: a member that is revived works "
        "from the declaration."
    ),
    why="A revived member talks to a connection of a run that is over, or is kept from starting.",
    if_broken=(
        "keep no table of connections in a module or class",
        "record declarations, not handles",
    ),
    needs=frozenset({"pool"}),
)

NO_DIAL_IS_MADE_UNASKED = Rule(
    id="POOL-35",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="The pool MUST NOT dial more often than it is asked to, nor again by itself.",
    why="A server that fails is dialled in circles, and each try may ask a user for consent.",
    if_broken=(
        "leave retries to whoever acquires",
        "do not replace a dead connection before somebody asks",
    ),
    needs=frozenset({"pool"}),
)
