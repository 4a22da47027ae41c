"""Pagination (PAG): how a list is walked page by page, where the walk ends, and what a broken walk is."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import HANDSHAKE, KIT, MODERN, MUST, SHOULD, Rule, issue, spec

LIST_HOLDS_ALL_PAGES = Rule(
    id="PAG-1",
    level=SHOULD,
    source=spec("2026-07-28", "server/utilities/pagination#implementation-guidelines"),
    core=True,
    rests_on=(spec("2025-11-25", "server/utilities/pagination#implementation-guidelines"),),
    text="The list that a user sees SHOULD hold all pages, and the walk ends where `nextCursor` is missing.",
    why=(
        "Tools beyond the first page do not exist for the user, and an allow-list that names one finds "
        "nothing."
    ),
    if_broken=(
        "follow nextCursor until there is none",
        "apply allow-lists to the whole walk, not to its first page",
    ),
    needs=frozenset({"follows_pages"}),
    reports=(
        issue("langchain-ai/langchain-mcp-adapters", 153),
        issue("huggingface/huggingface_hub", 4960),
        issue("open-webui/open-webui", 29912),
        issue("agentscope-ai/agentscope", 2765),
        issue("vercel/ai", 19240),
    ),
)

CURSOR_GOES_BACK_UNCHANGED = Rule(
    id="PAG-2",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/pagination#implementation-guidelines"),
    rests_on=(spec("2025-11-25", "server/utilities/pagination#implementation-guidelines"),),
    text="A cursor MUST go back in `params.cursor` exactly as it came.",
    why="The walk breaks, or skips tools, on every server whose cursors are not plain words.",
    if_broken=(
        "do not strip, convert, parse or encode a cursor",
        "send it in params.cursor and nowhere else",
        "where single pages are handed out, ask by the cursor that the user gives",
    ),
    reports=(issue("modelcontextprotocol/python-sdk", 745),),
)

EMPTY_CURSOR_IS_FOLLOWED = Rule(
    id="PAG-3",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/pagination#implementation-guidelines"),
    text=(
        "A walk MUST end only at an absent or null `nextCursor`: an empty string is a cursor like any "
        "other and is followed."
    ),
    why="All tools behind an empty cursor are lost.",
    if_broken=("test `next_cursor is not None` instead of its truth",),
    needs=frozenset({"follows_pages"}),
    eras=MODERN,
)

EMPTY_CURSOR_STILL_ENDS_THE_WALK = Rule(
    id="PAG-4",
    level=MUST,
    source=KIT,
    rests_on=(spec("2025-11-25", "server/utilities/pagination#implementation-guidelines"),),
    text=(
        "A walk MUST end although the server gives empty-string cursors, whether they are followed or "
        "taken as the end."
    ),
    why="A server that marks its last page with an empty cursor keeps the user's program asking for ever.",
    if_broken=(
        "take an empty cursor as the end, or stop when it comes again",
        "bound the number of requests of one walk",
    ),
    needs=frozenset({"follows_pages"}),
    eras=HANDSHAKE,
    reports=(
        issue("langchain-ai/langchain-mcp-adapters", 250),
        issue("modelcontextprotocol/java-sdk", 628),
        issue("modelcontextprotocol/csharp-sdk", 1072),
    ),
)

REPEATING_CURSOR_ENDS_THE_WALK = Rule(
    id="PAG-5",
    level=MUST,
    source=KIT,
    core=True,
    text=(
        "A walk whose cursors repeat MUST end after finitely many requests, with an error or with a "
        "list marked as partial."
    ),
    why="A faulty server holds the user's program in a loop until somebody kills it.",
    if_broken=(
        "remember the cursors of the walk, or bound its pages",
        "do not keep what such a walk brought as a full list",
    ),
    needs=frozenset({"follows_pages"}),
    reports=(issue("langchain-ai/langchain-mcp-adapters", 250),),
)

ENDLESS_WALK_IS_BOUNDED = Rule(
    id="PAG-6",
    level=MUST,
    source=KIT,
    text=(
        "A walk over ever new cursors MUST be bounded by a documented limit of pages, tools or time, "
        "and say so when it ends there."
    ),
    why="One faulty server fills the memory of the user's program with a single list.",
    if_broken=(
        "count pages, tools or time, and raise at the limit",
        "do not rely on a guard against repeated cursors alone",
    ),
    needs=frozenset({"follows_pages"}),
)

NO_PAGE_SIZE_ENDS_THE_WALK = Rule(
    id="PAG-7",
    level=MUST,
    source=spec("2026-07-28", "server/utilities/pagination#pagination-model"),
    rests_on=(spec("2025-11-25", "server/utilities/pagination#pagination-model"),),
    text="A walk MUST NOT end because a page is empty or short: no page size marks the last one.",
    why="The tools behind a short page are lost.",
    if_broken=("look at nextCursor, never at the number of tools on the page",),
    needs=frozenset({"follows_pages"}),
)

BROKEN_WALK_IS_A_FAILED_LIST = Rule(
    id="PAG-8",
    level=MUST,
    source=KIT,
    core=True,
    text=(
        "A walk that fails part way MUST be a failed list: no partial result, nothing replaced, and "
        "none of its definitions taken into the output checks."
    ),
    why=(
        "Half a list passes for the whole, and valid answers are judged by definitions that nobody was shown."
    ),
    if_broken=(
        "collect all pages before publishing any",
        "raise, or go on with the previous list",
        "check whether the SDK below keeps the schemas of page one",
    ),
    needs=frozenset({"follows_pages"}),
)

WALK_ACROSS_A_NOTICE_IS_NOT_KEPT = Rule(
    id="PAG-9",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),),
    text="A walk that a notice came into MUST NOT be kept, so that the next list is of one generation.",
    why="A list glued from two states, with tools doubled or missing, is served until the next notice.",
    if_broken=(
        "compare the generation before the first page and after the last",
        "walk anew at the next list",
    ),
    needs=frozenset({"follows_pages", "reacts_to_list_changed", "caches_listings"}),
)

REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE = Rule(
    id="PAG-10",
    level=MUST,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),
        spec("2026-07-28", "server/utilities/pagination#error-handling"),
        spec("2025-11-25", "server/utilities/pagination#error-handling"),
    ),
    text=(
        "An error for a cursor just handed out in the same walk MUST lead to one restart or to an "
        "error, never to an endless restart."
    ),
    why="A server that refuses its own cursors keeps the client in a loop, or page one passes for the list.",
    if_broken=("restart once at most, then raise", "do not return page one as the list"),
    needs=frozenset({"follows_pages"}),
)

CURSOR_DIES_WITH_ITS_SESSION = Rule(
    id="PAG-11",
    level=MUST,
    source=spec("2025-11-25", "server/utilities/pagination#implementation-guidelines"),
    text="A walk broken by a new session MUST start again without a cursor.",
    why="The new session does not know the old cursor: the list fails, or lacks what came before it.",
    if_broken=(
        "forget the cursor when the session is replaced",
        "after a re-dial walk anew instead of sending the last request again",
    ),
    needs=frozenset({"follows_pages", "redials"}),
    eras=HANDSHAKE,
)

EMPTY_CURSOR_IS_FOLLOWED_ONCE = Rule(
    id="PAG-12",
    level=SHOULD,
    source=KIT,
    rests_on=(spec("2025-11-25", "server/utilities/pagination#implementation-guidelines"),),
    text=(
        "An empty-string cursor that comes again in the same walk SHOULD end that walk: it is not asked for "
        "page after page until a limit is over."
    ),
    why=(
        "Many a server says by an empty cursor that there is no more, and gives page one to whoever asks "
        "with it: one list costs hundreds of requests, and then it fails."
    ),
    if_broken=(
        "take an empty cursor as the end, or stop when it comes again",
        "do not leave it to a bound on pages or time alone",
    ),
    needs=frozenset({"follows_pages"}),
    eras=HANDSHAKE,
    reports=(
        issue("langchain-ai/langchain-mcp-adapters", 250),
        issue("modelcontextprotocol/java-sdk", 628),
        issue("modelcontextprotocol/csharp-sdk", 1072),
    ),
)
