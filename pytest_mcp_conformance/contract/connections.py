"""Life of a connection (CONN): dialling, sharing, losing and closing it, with nothing left behind."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import HANDSHAKE, KIT, MUST, SHOULD, Rule, issue, sdk, spec

CONCURRENT_FIRST_USE_IS_ONE_DIAL = Rule(
    id="CONN-1",
    level=MUST,
    source=KIT,
    core=True,
    text="Concurrent first use MUST be one dial, and every connection made is closed in the end.",
    why="Sessions and child processes pile up that nobody will ever close.",
    if_broken=(
        "share the dial between the first users, with no await between check and set",
        "do not let a second connection overwrite the first",
    ),
    reports=(
        issue("PrefectHQ/fastmcp", 622),
        issue("pydantic/pydantic-ai", 2818),
        issue("pydantic/pydantic-ai", 2355),
    ),
)

FAILED_DIAL_IS_NOT_REMEMBERED = Rule(
    id="CONN-2",
    level=MUST,
    source=KIT,
    core=True,
    text=(
        "A failed dial MUST NOT be remembered: the next try dials, on the same object or, with the "
        "claim `one_shot`, on a new one."
    ),
    why="A server that was down for a moment stays out of reach until the program is restarted.",
    if_broken=(
        "do not keep the failed future",
        "let go of the dead transport before the next connect",
        "start the actor again after a failed dial",
    ),
    reports=(issue("mastra-ai/mastra", 19862),),
)

FAILED_DIAL_RAISES_PROMPTLY = Rule(
    id="CONN-3",
    level=MUST,
    source=KIT,
    text=(
        "A dial that fails MUST raise promptly an ordinary error with the cause in it: never a hang, "
        "never a cancelled caller, never a connection with 0 tools."
    ),
    why="The program hangs, dies of a cancellation that nobody asked for, or runs on without its tools.",
    if_broken=(
        "set the readiness event on failure too",
        "do not swallow the error",
        "leave no cancel scope behind in the caller's task",
    ),
    reports=(
        issue("openai/openai-agents-python", 1288),
        issue("microsoft/agent-framework", 5687),
        issue("microsoft/autogen", 7045),
    ),
)

CANCELLED_DIAL_LEAVES_NOTHING_OPEN = Rule(
    id="CONN-4",
    level=MUST,
    source=KIT,
    text="A cancelled dial MUST leave nothing open, and spoil neither the next one nor another waiter's.",
    why="Every connect that is cancelled leaks a session, and later ones fail without a visible reason.",
    if_broken=(
        "end the background session task together with its dial",
        "do not set the result of a cancelled future",
    ),
    reports=(issue("PrefectHQ/fastmcp", 2613), issue("agentscope-ai/agentscope", 2499)),
)

LOST_SESSION_IS_REPLACED = Rule(
    id="CONN-5",
    level=MUST,
    source=spec("2025-11-25", "basic/transports#session-management"),
    core=True,
    text="After HTTP 404 to a request with a session id the client MUST start a new session without that id.",
    why="After a restart of the server the client stays tied to a dead session for ever.",
    if_broken=(
        "forget the session id at a 404 and initialize again",
        "do not turn the 404 into a tool result",
    ),
    needs=frozenset({"http"}),
    eras=HANDSHAKE,
    reports=(issue("google/adk-python", 6822), issue("sparfenyuk/mcp-proxy", 149)),
)

BROKEN_CONNECTION_IS_NOT_USED_AGAIN = Rule(
    id="CONN-6",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "basic/transports/stdio#unexpected-termination"),),
    text=(
        "A broken connection MUST NOT be used again: later verbs run on a new one or, without the claim "
        "`redials`, each fails at once with a text that says it is closed."
    ),
    why="Every later verb fails or hangs, and nothing tells the user why.",
    if_broken=(
        "do not return a dead connection to the pool",
        "test the connection itself, not local flags",
        "say in the error that the connection is closed",
    ),
    reports=(
        issue("google/adk-python", 6822),
        issue("langchain-ai/langchain-mcp-adapters", 142),
        issue("deepset-ai/haystack-core-integrations", 2054),
        issue("IBM/mcp-context-forge", 3520),
        issue("sparfenyuk/mcp-proxy", 149),
    ),
)

DEAD_CONNECTION_ENDS_ITS_CALLS = Rule(
    id="CONN-7",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2025-11-25", "basic/transports#resumability-and-redelivery"),
        spec("2026-07-28", "basic/transports/streamable-http#receiving-messages"),
    ),
    text="A connection that dies under a call MUST end the call with an error, without any timer.",
    why="Callers wait for an answer that cannot come any more.",
    if_broken=(
        "tell every waiter when the reading side ends",
        "do so at each way to die: before the headers, within the stream, with the child",
    ),
    reports=(
        issue("google/adk-python", 3085),
        issue("microsoft/agent-framework", 4938),
        issue("strands-agents/harness-sdk", 4403),
    ),
)

HTTP_ERROR_BELONGS_TO_ITS_REQUEST = Rule(
    id="CONN-8",
    level=MUST,
    source=KIT,
    text=(
        "An HTTP error MUST belong to its own request: the call fails with the status, and the session lives."
    ),
    why="A refused call hangs without a word, or takes every other call of the session with it.",
    if_broken=(
        "hand the status to the waiter instead of logging it in a writer task",
        "do not tear the session down for one request",
    ),
    needs=frozenset({"http"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 1010),
        issue("modelcontextprotocol/python-sdk", 2047),
        issue("PrefectHQ/fastmcp", 2803),
    ),
)

CLOSE_ENDS_EVERYTHING_IT_OPENED = Rule(
    id="CONN-9",
    level=SHOULD,
    source=spec("2026-07-28", "basic/transports/stdio#shutdown"),
    core=True,
    rests_on=(
        spec("2025-11-25", "basic/transports#session-management"),
        spec("2025-11-25", "basic/lifecycle#shutdown"),
    ),
    text=(
        "`close` SHOULD end everything that the object opened: calls, GET and listen streams (kit), the "
        "session by DELETE, the child process and all tasks."
    ),
    why="Processes, sockets and sessions pile up on the user's machine and at the server.",
    if_broken=(
        "let an explicit close outrank keep-alive",
        "close the standing streams and delete the session",
        "wait for the child and for every task",
    ),
    reports=(issue("PrefectHQ/fastmcp", 1311), issue("n8n-io/n8n", 23388)),
)

CLOSING_TWICE_IS_CLOSING_ONCE = Rule(
    id="CONN-10",
    level=MUST,
    source=KIT,
    text="Closing twice MUST be the same as closing once, and a close without a connect does nothing.",
    why="A second clean-up raises, or closes a connection that others are using.",
    if_broken=("keep the use count from going below zero", "allow for an entry that is already gone"),
    needs=frozenset({"close"}),
    reports=(
        issue("PrefectHQ/fastmcp", 4328),
        issue("pydantic/pydantic-ai", 4422),
        issue("pydantic/pydantic-ai", 3542),
    ),
)

CLOSE_WORKS_FROM_ANOTHER_TASK = Rule(
    id="CONN-11",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession.__aexit__"),),
    text="Close MUST work from another task, and in any order among several connections.",
    why=(
        "Servers and agents whose clean-up runs in a task of its own cannot shut down, and what is left "
        "eats the CPU."
    ),
    if_broken=(
        "own each connection in a task and let close signal that task",
        "leave a cancel scope in the task that entered it",
    ),
    reports=(
        issue("modelcontextprotocol/python-sdk", 79),
        issue("openai/openai-agents-python", 1393),
        issue("microsoft/agent-framework", 4687),
        issue("microsoft/semantic-kernel", 12627),
        issue("crewAIInc/crewAI", 4634),
    ),
)

CLOSE_ENDS_THE_VERB_UNDER_WAY = Rule(
    id="CONN-12",
    level=MUST,
    source=KIT,
    text=(
        "Close during a dial, a list or a call MUST end that verb with an error, within a second, and "
        "nothing is dialled, sent or kept afterwards."
    ),
    why="A program that shuts down hangs on a verb, or dials again behind its own close.",
    if_broken=("look for the close before each retry inside a verb", "drop answers that arrive after it"),
    reports=(issue("lastmile-ai/mcp-agent", 441),),
)

CLOSE_IS_BOUNDED = Rule(
    id="CONN-13",
    level=SHOULD,
    source=spec("2026-07-28", "basic/transports/stdio#shutdown"),
    rests_on=(spec("2025-11-25", "basic/lifecycle#shutdown"),),
    text=(
        "Close SHOULD kill a child that ignores its shutdown, and be bounded (kit): a mute DELETE, a "
        "deaf child, unread messages or interpreter exit do not hold it."
    ),
    why="The program cannot be ended but by killing it.",
    if_broken=(
        "put a limit on the DELETE and on the child's exit, then kill",
        "end the task that the limit gave up on, not only the waiting",
    ),
    needs=frozenset({"clock or stdio"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 559),
        issue("PrefectHQ/fastmcp", 3947),
        issue("PrefectHQ/fastmcp", 4011),
    ),
)

FAILED_CONNECT_LEAVES_NOTHING_OPEN = Rule(
    id="CONN-14",
    level=MUST,
    source=KIT,
    text="A failed connect or a failed first list MUST leave nothing open.",
    why="Each failed start leaves sessions and child processes behind.",
    if_broken=("close the session whose first list failed",),
)

SECOND_CONNECT_LEAVES_ONE_LIVE = Rule(
    id="CONN-15",
    level=MUST,
    source=KIT,
    text=(
        "After a second connect or a re-dial exactly one connection MUST be live, and if the second "
        "fails, the first still works."
    ),
    why="Old connections pile up, or a failed second try takes the healthy first one away.",
    if_broken=(
        "close the old connection once the new one stands",
        "keep the first while the second is not up",
    ),
    reports=(issue("NousResearch/hermes-agent", 12430),),
)

CONNECTION_IN_USE_STAYS_OPEN = Rule(
    id="CONN-16",
    level=MUST,
    source=KIT,
    text=(
        "A connection in use by others MUST NOT be closed by one user's close, release, end of run or "
        "garbage collection."
    ),
    why="The first user to finish fails everybody else's calls in mid flight.",
    if_broken=(
        "count the users and close with the last",
        "do not count one release twice",
        "leave an HTTP client that the caller owns open",
    ),
    needs=frozenset({"pools_connections or pool or http_client"}),
    reports=(
        issue("pydantic/pydantic-ai", 3534),
        issue("agno-agi/agno", 7347),
        issue("lastmile-ai/mcp-agent", 441),
    ),
)

USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL = Rule(
    id="CONN-17",
    level=MUST,
    source=KIT,
    text=(
        "Several users who find the connection dead MUST share one re-dial: all end, none is cancelled, "
        "and no lock is held across it."
    ),
    why="One of them waits for ever, or a second re-dial overwrites the first.",
    if_broken=(
        "share the re-dial between all who wait for it",
        "take two locks in one order only, and none across a dial",
    ),
    needs=frozenset({"redials"}),
    reports=(issue("mastra-ai/mastra", 20526),),
)

OPERATIONS_SHARE_ONE_SESSION = Rule(
    id="CONN-18",
    level=SHOULD,
    source=spec("2026-07-28", "basic#statelessness"),
    text="One holder's operations SHOULD run on one session or child process (in the handshake era: kit).",
    why="What a server keeps for a session, a login or a counter, is lost between two calls.",
    if_broken=("keep the session open between the verbs", "do not check health by connecting anew"),
    reports=(issue("PrefectHQ/fastmcp", 3330), issue("google/adk-python", 2059)),
)

WHAT_IS_HELD_OPEN_STAYS_BOUNDED = Rule(
    id="CONN-19",
    level=MUST,
    source=KIT,
    text="What is held open MUST stay bounded over many operations and principals.",
    why="A service that runs for weeks runs out of memory, of sockets or of sessions at the server.",
    if_broken=(
        "evict idle sessions from the map",
        "drop the pending entry of a call that timed out or was cancelled",
    ),
    reports=(issue("n8n-io/n8n", 23388),),
)

CUT_ANSWER_IS_RESUMED = Rule(
    id="CONN-20",
    level=MUST,
    source=spec("2025-11-25", "basic/transports#sending-messages-to-the-server"),
    rests_on=(spec("2025-11-25", "basic/transports#resumability-and-redelivery"),),
    text=(
        "Before it resumes a cut SSE answer with event ids, the client MUST wait for the server's "
        "`retry` time; it SHOULD resume with the last id, which survives a second cut, and tries are "
        "bounded (kit)."
    ),
    why="The result of a long call is lost with the second cut, or the server is asked without pause or end.",
    if_broken=(
        "wait for the retry time before the GET",
        "keep the last event id until a newer one comes",
        "fail the call after a bounded number of tries",
    ),
    needs=frozenset({"http", "clock"}),
    eras=HANDSHAKE,
    reports=(
        issue("modelcontextprotocol/python-sdk", 2398),
        issue("modelcontextprotocol/typescript-sdk", 2509),
    ),
)

SESSION_HEADERS_RIDE_ON_EVERY_REQUEST = Rule(
    id="CONN-21",
    level=MUST,
    source=spec("2025-11-25", "basic/transports#session-management"),
    rests_on=(spec("2025-11-25", "basic/transports#protocol-version-header"),),
    text=(
        "Session id and protocol version MUST ride on every request after the handshake, the id exactly "
        "as given."
    ),
    why="The server refuses the requests that lack them, and sessions are never ended.",
    if_broken=("set both headers on GET and DELETE too",),
    needs=frozenset({"http"}),
    eras=HANDSHAKE,
)

FALLBACK_FITS_ANY_OLD_SERVER = Rule(
    id="CONN-22",
    level=MUST,
    source=spec("2026-07-28", "basic/transports/stdio#backward-compatibility"),
    rests_on=(
        spec("2026-07-28", "basic/transports/streamable-http#backward-compatibility"),
        spec("2026-07-28", "basic/versioning#backward-compatibility-with-initialization-based-versions"),
    ),
    text=(
        "A wrapper for both eras MUST fall back to the handshake on any error or silence that is not a "
        "recognised modern one, and not on a modern one; it SHOULD keep the finding for the process or "
        "origin."
    ),
    why=(
        "Older servers that meet the probe in their own way are out of reach, or every verb pays for a probe."
    ),
    if_broken=(
        "do not key the fallback to one error code",
        "read the body of a 400 before falling back",
        "remember the era for each process or origin",
    ),
    needs=frozenset({"eras"}),
)

ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN = Rule(
    id="CONN-23",
    level=MUST,
    source=KIT,
    text="One failed server of several MUST leave nothing open once the whole is refused or closed.",
    why="Each failed start leaves sessions and child processes behind, of the servers that work as well.",
    if_broken=(
        "close the servers that did connect when another fails",
        "close what was opened for the one that failed",
        "let a close work on an object that never came up",
    ),
    needs=frozenset({"together"}),
    reports=(issue("agno-agi/agno", 8163),),
)

CLOSE_AND_CONNECT_DO_NOT_OVERLAP = Rule(
    id="CONN-24",
    level=MUST,
    source=KIT,
    text=(
        "An object of several servers that is closed and connected anew at one moment MUST end both, and "
        "its last close leaves nothing open."
    ),
    why="A program that shuts down waits for ever, or leaves sessions that nobody will ever close.",
    if_broken=(
        "let connect, reconnect and close of one object wait for one another",
        "do not hand work to a task that is about to end",
    ),
    needs=frozenset({"together"}),
    reports=(issue("openai/openai-agents-python", 4340),),
)

SAID_TO_BE_CONNECTED_IS_CONNECTED = Rule(
    id="CONN-25",
    level=MUST,
    source=KIT,
    text="An object of several servers MUST NOT say of one that it is connected when it is not.",
    why="A caller is handed servers that are closed, and a run fails that would have done without them.",
    if_broken=("renew the list of live servers after a close as after a connect",),
    needs=frozenset({"together"}),
    reports=(issue("openai/openai-agents-python", 4586),),
)
