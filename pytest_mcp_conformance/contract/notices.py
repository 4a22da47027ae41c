"""Notices and subscriptions (NTC): how word of a change reaches the list, on every channel."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MODERN, MUST, SHOULD, Rule, issue, sdk, spec

NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST = Rule(
    id="NTC-1",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2025-11-25", "server/tools#list-changed-notification"),
        spec("2025-11-25", "basic/transports#listening-for-messages-from-the-server"),
        spec("2025-11-25", "basic/transports#sending-messages-to-the-server"),
    ),
    text=(
        "A wrapper that claims to react to `list_changed` MUST show the new list within its declared "
        "delay, whichever channel of the era brought the notice."
    ),
    why="Tools that were added stay unseen, and tools that were removed are still called.",
    if_broken=(
        "watch every channel: the standing stream, a running call's stream, the listen stream",
        "take in a notice that comes right behind a call's answer",
        "look for a branch that drops the notice",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 2107),
        issue("NousResearch/hermes-agent", 65436),
        issue("openai/codex", 33266),
        issue("maximhq/bifrost", 6885),
    ),
)

EVERY_CONNECTION_IS_LISTENED_TO = Rule(
    id="NTC-2",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "basic/patterns/subscriptions#opening-a-stream"),),
    text=(
        "A wrapper that claims to react to `list_changed` MUST open `subscriptions/listen` with "
        "`toolsListChanged` true, and again for every new connection of the same object."
    ),
    why=(
        "A server sends only what it was asked for: without the request the wrapper waits for notices "
        "that never come."
    ),
    if_broken=("send subscriptions/listen once connected", "send it again after every connect and re-dial"),
    needs=frozenset({"reacts_to_list_changed"}),
    eras=MODERN,
)

ACKNOWLEDGED_FILTER_IS_CHECKED = Rule(
    id="NTC-3",
    level=SHOULD,
    source=spec("2026-07-28", "basic/patterns/subscriptions#acknowledgment"),
    text=(
        "The acknowledged filter SHOULD be compared with the one asked for, and a kind of notice that "
        "was not granted is not counted on."
    ),
    why="The wrapper trusts a push that will never come, and keeps an old list.",
    if_broken=(
        "read the filter in the acknowledgment",
        "fetch by lifetime or on access where toolsListChanged was not granted",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    eras=MODERN,
)

NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES = Rule(
    id="NTC-4",
    level=MUST,
    source=spec("2026-07-28", "basic/patterns/subscriptions#receiving-notifications"),
    rests_on=(
        spec("2026-07-28", "basic/patterns/subscriptions#multiple-concurrent-subscriptions"),
        spec("2026-07-28", "basic/transports/stdio#receiving-messages"),
    ),
    text=(
        "On stdio a notice, an acknowledgment or an end MUST be taken for the subscription whose id it "
        "carries."
    ),
    why="The end of one subscription silences the others, or a change reaches the wrong list.",
    if_broken=(
        "find the subscription by the id in _meta",
        "do not read any end as the end of all",
        "do not pair acknowledgments by order",
    ),
    needs=frozenset({"pools_connections or subscribe_resource", "stdio"}),
    eras=MODERN,
)

STDIO_RECONNECT_LISTENS_AGAIN = Rule(
    id="NTC-5",
    level=MUST,
    source=spec("2026-07-28", "basic/patterns/subscriptions#graceful-closure"),
    rests_on=(spec("2026-07-28", "basic/transports/stdio#unexpected-termination"),),
    text=(
        "A stdio connection that replaces a lost one MUST carry the listen request anew, since the "
        "server remembers no subscription."
    ),
    why="Once its child was restarted, the wrapper hears of no change any more.",
    if_broken=("subscribe as a part of every dial, not once at set-up",),
    needs=frozenset({"redials", "stdio", "reacts_to_list_changed"}),
    eras=MODERN,
)

END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST = Rule(
    id="NTC-6",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2026-07-28", "basic/patterns/subscriptions#graceful-closure"),
        spec("2026-07-28", "basic/patterns/cancellation#behavior-requirements"),
    ),
    text=(
        "However the notice stream ends, by a result, a cancelled notice or a plain cut, the kept list "
        "MUST NOT be trusted any longer, the stream is opened again with bounded tries while the claim "
        "stands, and calls in flight go on."
    ),
    why=(
        "A change made while the stream was down is never noticed, or a lost side stream takes running "
        "calls with it."
    ),
    if_broken=(
        "mark the list stale at every way the stream can end",
        "space out the tries to listen again, and bound them",
        "keep the end of the stream away from pending calls",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
)

NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS = Rule(
    id="NTC-7",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "1.30.0", "ClientSession(message_handler=)"),),
    text="Handling a notice MUST NOT block the reading of answers.",
    why="The program stands still: the refetch waits for an answer that only the blocked reader could bring.",
    if_broken=(
        "mark the list stale in the handler and fetch elsewhere",
        "do not await a request on the receive loop",
    ),
    reports=(
        issue("microsoft/agent-framework", 4866),
        issue("turnstonelabs/turnstone", 839),
        issue("NousResearch/hermes-agent", 17570),
    ),
)

NOTICE_STORM_COSTS_ONE_MORE_WALK = Rule(
    id="NTC-8",
    level=SHOULD,
    source=KIT,
    rests_on=(sdk("@modelcontextprotocol/sdk", "1.32.2", "Client(listChanged.tools)"),),
    text=(
        "A storm of notices SHOULD cost at most the walk under way and one after it, and end on the "
        "newest list."
    ),
    why="A busy server is asked for its whole list once a notice, or its last change is lost.",
    if_broken=(
        "gather notices into one pending refetch",
        "do not swallow the notice that comes during the last walk",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(issue("openai/codex", 33266),),
)

NOTICE_DURING_A_REFRESH_IS_NOT_LOST = Rule(
    id="NTC-9",
    level=MUST,
    source=KIT,
    text=(
        "A notice that lands during a refresh MUST NOT be lost, and a retry of the older refresh "
        "publishes nothing after it."
    ),
    why="The list stays as it was before the last change, until something else changes.",
    if_broken=(
        "compare generations instead of clearing a flag when the refresh ends",
        "give up a retry that a newer notice overtook",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(issue("openai/codex", 33266), issue("cline/cline", 12619)),
)

NOTHING_STARTS_AFTER_CLOSE = Rule(
    id="NTC-10",
    level=MUST,
    source=KIT,
    text="After `close` a notice or a late answer MUST NOT start or write anything.",
    why=(
        "A closed client goes on dialling unseen, or fills a shared cache with the list of a dead connection."
    ),
    if_broken=(
        "cancel the refresh task on close, and wait for its end",
        "check that the connection is open before storing",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
)

NOTICE_REACHES_ITS_OWN_CLIENT = Rule(
    id="NTC-11",
    level=MUST,
    source=KIT,
    core=True,
    text="A notice MUST reach the client it was sent to, with two clients alive and after either was closed.",
    why="One client is told of another's changes and never hears of its own.",
    if_broken=(
        "register the handler on the connection it belongs to",
        "do not let a shared transport keep the first client's handler",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
)

FAILED_REFRESH_LEAVES_THE_LIST_STALE = Rule(
    id="NTC-12",
    level=MUST,
    source=KIT,
    text=(
        "A refresh that fails after a notice MUST leave the list stale: usable or an error, and fetched "
        "from the wire by the next list."
    ),
    why="A single failed refresh hides the change until the next notice.",
    if_broken=(
        "clear the stale mark only after a fetch that succeeded",
        "do more with the failure than log it",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(issue("openai/codex", 33266),),
)

OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE = Rule(
    id="NTC-13",
    level=MUST,
    source=KIT,
    text=(
        "Loads that overlap, such as the first list and the list that a notice asks for, MUST end with "
        "each tool once."
    ),
    why="Duplicate tools make the next request to a model fail.",
    if_broken=(
        "replace the registry in one step instead of appending to it",
        "run loads one after the other, or drop the older one",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(issue("microsoft/agent-framework", 5911), issue("microsoft/agent-framework", 4381)),
)

CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED = Rule(
    id="NTC-14",
    level=SHOULD,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic/patterns/subscriptions#acknowledgment"),),
    text=(
        "A change between the first list and the acknowledgment of the subscription SHOULD NOT be "
        "missed: list after the acknowledgment, or once more."
    ),
    why="No notice may be sent before the acknowledgment, so this change stays unseen until the next one.",
    if_broken=("subscribe before the first list", "list again when the acknowledgment comes after it"),
    needs=frozenset({"reacts_to_list_changed"}),
    eras=MODERN,
    reports=(issue("openai/codex", 33266),),
)

OTHER_NOTICES_DISTURB_NOTHING = Rule(
    id="NTC-15",
    level=MUST,
    source=spec("2026-07-28", "basic#notifications"),
    rests_on=(
        spec("2025-11-25", "basic#notifications"),
        spec("2026-07-28", "basic/transports/streamable-http#receiving-messages"),
    ),
    text=(
        "Other notices, unknown ones, odd params and SSE comment lines MUST NOT be answered, and "
        "disturb nothing (kit)."
    ),
    why="A log message, or a notice from a newer server, stalls the connection or kills it.",
    if_broken=(
        "ignore methods that you do not know",
        "accept params that are null",
        "never answer a message without an id",
    ),
    reports=(issue("modelcontextprotocol/python-sdk", 192),),
)

REFRESHED_LIST_IS_THE_ONE_IN_USE = Rule(
    id="NTC-16",
    level=MUST,
    source=KIT,
    text="The refreshed list MUST be the one that lookup, dispatch and every view use.",
    why="The user sees a tool that cannot be called, or calls one that is gone.",
    if_broken=(
        "let dispatch read the registry that the refresh writes",
        "renew every accessor and binding with the list",
    ),
    needs=frozenset({"reacts_to_list_changed"}),
    reports=(issue("anthropics/claude-ai-mcp", 45), issue("anthropics/claude-ai-mcp", 960)),
)
