"""Response caching (CCH): what may be kept of an answer, for how long and for whom, and what ends it."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MODERN, MUST, SHOULD, Rule, issue, sdk, spec

STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST = Rule(
    id="CCH-1",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/caching#cache-key"),
    text=(
        "A stored answer MUST serve only requests with the same method and the same params that shape "
        "the result."
    ),
    why="A user is shown another page of tools, or another resource, than the one that was asked for.",
    if_broken=(
        "key the store by the method and by all params that shape the result, the cursor included",
        "look for a key made of the method alone",
    ),
    needs=frozenset({"caches_listings"}),
    eras=MODERN,
    reports=(issue("PrefectHQ/fastmcp", 4461), issue("agentscope-ai/agentscope", 2765)),
)

SERVERS_NEVER_SHARE_AN_ENTRY = Rule(
    id="CCH-2",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "server/utilities/caching#cache-key"),),
    text="Two servers MUST NOT share a cache entry, whatever they are called.",
    why="The tools of one server are offered as another's, and calls go to a server that does not have them.",
    if_broken=(
        "keep the cache on the connection, not in the module",
        "key by the server itself, not by its configured name",
    ),
    reports=(
        issue("UKGovernmentBEIS/inspect_ai", 1807),
        issue("redhat-data-and-ai/template-agent", 65),
        issue("PrefectHQ/fastmcp", 1245),
        issue("anthropics/claude-code", 40025),
    ),
)

PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL = Rule(
    id="CCH-3",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/caching#cache-scope-field"),
    core=True,
    text=(
        "A private answer MUST NOT be served in another authorization context; an absent or unknown "
        "scope counts as private (kit)."
    ),
    why="One user is handed what only another was meant to see.",
    if_broken=(
        "put the authorization context in the cache key",
        "do not key by the URL alone, nor by a hash that leaves the token out",
        "read an absent or unknown scope as private",
    ),
    needs=frozenset({"isolates_principals", "caches_listings"}),
    eras=MODERN,
    reports=(issue("PrefectHQ/fastmcp", 4461),),
)

MULTI_ROUND_ANSWERS_ARE_NOT_CACHED = Rule(
    id="CCH-4",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/caching#cache-key"),
    rests_on=(spec("2026-07-28", "basic/patterns/mrtr#client-requirements-basic-workflow"),),
    text="An interim `input_required` answer and the answer to its retry MUST NOT be cached.",
    why="What one reader typed in decides what the next reader of the same resource is shown.",
    if_broken=(
        "store only complete answers to requests without inputResponses and requestState",
        "ignore a lifetime on an interim answer",
    ),
    needs=frozenset({"read_resource", "answers_input"}),
    eras=MODERN,
)

ZERO_LIFETIME_IS_STALE_AT_ONCE = Rule(
    id="CCH-5",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#time-to-live-ttl-field"),
    text=(
        "A listing with a `ttlMs` of 0 SHOULD count as stale at once, so that the next list asks the "
        "server again."
    ),
    why="A change stays hidden although the server asked for its list not to be kept.",
    if_broken=(
        "read ttlMs before keeping a listing",
        "look for a cache of the wrapper's own that ignores the hint",
    ),
    needs=frozenset({"lifetimes"}),
    eras=MODERN,
)

LIFETIME_COUNTS_FROM_RECEIPT = Rule(
    id="CCH-6",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#time-to-live-ttl-field"),
    rests_on=(spec("2026-07-28", "server/utilities/caching#freshness-calculation"),),
    text=(
        "A listing with a positive `ttlMs` SHOULD stay fresh for that long after its receipt, counted "
        "neither from the sending of the request nor from the last use."
    ),
    why="Counted otherwise, the user pays for needless listings or keeps a list past its time.",
    if_broken=(
        "take the time when the answer arrives",
        "do not renew the entry on a hit",
        "do not copy the cache for each call, or it never hits",
    ),
    needs=frozenset({"caches_listings", "clock", "lifetimes"}),
    eras=MODERN,
    reports=(issue("langflow-ai/langflow", 14194),),
)

ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY = Rule(
    id="CCH-7",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#time-to-live-ttl-field"),
    text=(
        "A listing without `ttlMs` SHOULD count as having 0, which leaves the wrapper's own documented "
        "cache policy in force; a 0 that an SDK filled in is not the server's word."
    ),
    why="The list is refused or kept for ever, or the policy that the user chose is switched off unseen.",
    if_broken=(
        "do not read an absent ttlMs as for ever",
        "do not refuse a listing that says nothing of its lifetime",
        "tell a 0 from the server from one that the SDK filled in",
    ),
    reports=(issue("anthropics/claude-code", 88128),),
)

NEGATIVE_LIFETIME_COUNTS_AS_ZERO = Rule(
    id="CCH-8",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#time-to-live-ttl-field"),
    text="A listing with a negative `ttlMs` SHOULD be accepted and handled as if it said 0.",
    why="One odd number from a server takes all its tools away, or keeps them until nobody knows when.",
    if_broken=(
        "bring a negative lifetime up to 0 before computing an expiry",
        "do not refuse the listing for its hint",
    ),
    needs=frozenset({"lifetimes"}),
    eras=MODERN,
)

LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS = Rule(
    id="CCH-9",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#freshness-calculation"),
    text=(
        "A lapsed listing SHOULD be fetched again at the next access and not before; a listing exactly "
        "as old as its `ttlMs` has lapsed."
    ),
    why="The list goes on being served past the time that the server vouched for.",
    if_broken=("call a listing fresh while its age is < ttlMs, not <=", "check the age at every access"),
    needs=frozenset({"caches_listings", "clock", "lifetimes"}),
    eras=MODERN,
)

EXPIRY_STARTS_NO_REFETCH = Rule(
    id="CCH-10",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#freshness-calculation"),
    text=(
        "A lifetime SHOULD NOT be used as a polling interval: when it runs out, nothing is fetched "
        "until somebody asks."
    ),
    why="Every idle client loads the server with listings that nobody reads.",
    if_broken=("drop the timer per entry", "check freshness when the list is asked for"),
    needs=frozenset({"clock"}),
    eras=MODERN,
)

POLLING_SPREADS_AND_BACKS_OFF = Rule(
    id="CCH-11",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/caching#freshness-calculation"),
    text="A wrapper that polls all the same MUST spread its polls with jitter and slow down when they fail.",
    why="Many clients ask in step, and a server that struggles is kept down by its own users.",
    if_broken=(
        "add jitter to every interval",
        "let the gap grow with each failure up to a cap, and shrink back after a success",
    ),
    needs=frozenset({"polls", "clock"}),
    eras=MODERN,
)

NOTICE_ENDS_FRESHNESS = Rule(
    id="CCH-12",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "server/utilities/caching#interaction-with-notifications"),),
    text=(
        "A `list_changed` notice MUST end the freshness of the listing at once, whatever is left of its "
        "lifetime."
    ),
    why="The server has said that its tools changed, and the user goes on with the old ones.",
    if_broken=(
        "drop the kept list when the notice comes",
        "do not let a lifetime outrank a notice",
        "check that the notice is not merely logged",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 2107),
        issue("openai/codex", 33266),
        issue("maximhq/bifrost", 6885),
    ),
)

OVERTAKEN_LISTING_IS_DISCARDED = Rule(
    id="CCH-13",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "server/utilities/caching#interaction-with-notifications"),),
    text="A listing still in flight when its list was invalidated MUST be discarded.",
    why="The answer was built before the change: kept, it hides the change until the next notice.",
    if_broken=(
        "compare the generation before and after the listing",
        "do not store from a callback that sees no notice",
        "do not let the answer clear a flag that was set while it was out",
    ),
    needs=frozenset({"reacts_to_list_changed or invalidate"}),
    reports=(issue("aaif-goose/goose", 10433),),
)

LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT = Rule(
    id="CCH-14",
    level=MUST,
    source=KIT,
    text="A list asked for after a notice MUST NOT be answered by a fetch that began before it.",
    why="Whoever asks after the change still gets the tools from before it.",
    if_broken=(
        "let only callers of the same generation join a fetch",
        "start a new fetch when the one under way is older than the notice",
    ),
    needs=frozenset({"reacts_to_list_changed or invalidate"}),
)

LATE_OLDER_LISTING_REPLACES_NOTHING = Rule(
    id="CCH-15",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"),),
    text="An older fetch that is answered late MUST NOT replace what a later fetch brought.",
    why="The list jumps back to an older state and stays there.",
    if_broken=(
        "number the fetches when they are sent, and store only a higher number",
        "do not let the last arrival win",
    ),
    needs=frozenset({"caches_listings"}),
    reports=(issue("cline/cline", 12619),),
)

FAILED_REFETCH_EMPTIES_NOTHING = Rule(
    id="CCH-16",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "server/utilities/caching#freshness-calculation"),),
    text=(
        "After a failed refetch a list MUST be the error or the previous list, never an empty or "
        "shortened one, and the next access tries the wire again."
    ),
    why="A passing fault takes tools away, and the user believes that the server has none.",
    if_broken=("do not store a failure as an empty list", "do not let the failure renew the stale entry"),
    needs=frozenset({"caches_listings", "clock or invalidate or refresh or reacts_to_list_changed"}),
    reports=(issue("mastra-ai/mastra", 19862),),
)

EMPTY_LISTING_IS_A_LISTING = Rule(
    id="CCH-17",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "server/tools#capabilities"),),
    text="An empty listing MUST be handed out, kept and replaced like any other.",
    why="Tools that the server withdrew stay on offer, or a server without tools is asked at every access.",
    if_broken=(
        "test for a kept list with `is None`, not by truth",
        "do not take an empty list for a failure",
    ),
)

HANDED_OUT_LIST_IS_NOT_THE_CACHE = Rule(
    id="CCH-18",
    level=MUST,
    source=KIT,
    core=True,
    text="What is handed out MUST NOT be the cache itself: a caller's edits reach no later listing.",
    why="One caller's filter or edited schema silently changes what every other caller gets.",
    if_broken=(
        "return a copy, not the stored list",
        "copy the tools and their nested schemas too, not only the list around them",
    ),
    needs=frozenset({"caches_listings"}),
    reports=(
        issue("openai/openai-agents-python", 4424),
        issue("openai/openai-agents-python", 4525),
        issue("pydantic/pydantic-ai", 7477),
    ),
)

EACH_PAGE_HAS_ITS_OWN_LIFETIME = Rule(
    id="CCH-19",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),
    text=(
        "Each page SHOULD have a lifetime and a clock of its own, so that a lapsed page is fetched "
        "again by its cursor; a walk kept as one entry lapses with the first of its pages (kit)."
    ),
    why="Tools on the later pages are served long after their own lifetime ended.",
    if_broken=(
        "keep the receipt time and ttlMs of every page",
        "let a walk kept whole lapse with its shortest page",
        "do not mix a kept page into a walk of another time",
    ),
    needs=frozenset({"caches_listings", "clock", "lifetimes"}),
    eras=MODERN,
)

SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE = Rule(
    id="CCH-20",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),
    text=(
        "A wrapper that promises a consistent whole list SHOULD start again without a cursor when any "
        "page is stale."
    ),
    why="A tool that moved between two pages shows up twice, or not at all.",
    if_broken=("walk from the start instead of refreshing one page", "do not stitch kept pages to new ones"),
    needs=frozenset({"clock", "lifetimes", "snapshot_lists"}),
    eras=MODERN,
)

DEAD_CURSOR_DROPS_ALL_KEPT_PAGES = Rule(
    id="CCH-21",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),
    text=(
        "An error for a cursor that used to work SHOULD drop every kept page and start the walk from "
        "the beginning, once."
    ),
    why="The list stays broken until a restart, or ends after its first page.",
    if_broken=(
        "drop all pages of the walk on a cursor error",
        "do not ask for the dead cursor again",
        "raise when the second walk fails the same way",
    ),
    needs=frozenset({"caches_listings", "clock", "lifetimes"}),
    eras=MODERN,
)

LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION = Rule(
    id="CCH-22",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "server/utilities/caching#time-to-live-ttl-field"),),
    text=(
        "A list kept without a lifetime from the server MUST NOT be served once its connection is lost, or "
        "after a close and connect, a re-dial or a new session, unless that is documented."
    ),
    why="A server that was restarted or upgraded is shown with the tools it used to have.",
    if_broken=(
        "drop the kept list when a connection opens or closes",
        "keep the cache on the connection, so that it cannot outlive it",
    ),
    reports=(issue("pydantic/pydantic-ai", 3227),),
)

EQUAL_LISTS_SHARE_ONE_FETCH = Rule(
    id="CCH-23",
    level=SHOULD,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession.list_tools"),),
    text=(
        "Equal lists asked for at one moment SHOULD share one fetch, and cancelling or failing one "
        "waiter leaves the others theirs."
    ),
    why="One caller that gives up takes the list away from all who waited beside it.",
    if_broken=(
        "run the fetch in a task of its own, not in the first caller's",
        "shield each waiter from the cancellation of the others",
    ),
    needs=frozenset({"single_flight"}),
)

EXPLICIT_REFRESH_PASSES_EVERY_LAYER = Rule(
    id="CCH-24",
    level=MUST,
    source=KIT,
    text=(
        "An explicit `refresh` or `invalidate` MUST pass every cache layer, the SDK's included, and "
        "reach every accessor that reads the tools."
    ),
    why="The one way out of a stale list does not lead out of it.",
    if_broken=(
        "go past the SDK's own response cache on a refresh",
        "renew properties and other accessors along with the list",
    ),
    needs=frozenset({"refresh or invalidate"}),
    reports=(issue("pydantic/pydantic-ai", 3227),),
)
