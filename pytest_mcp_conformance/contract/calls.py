"""Calls (CALL): sent once, answered to their own caller, bounded in time, and given up cleanly."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import (
    HANDSHAKE,
    KIT,
    MODERN,
    MUST,
    SHOULD,
    Rule,
    issue,
    python,
    sdk,
    spec,
)

ONE_CALL_IS_SENT_ONCE = Rule(
    id="CALL-1",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2026-07-28", "basic/transports/stdio#unexpected-termination"),
        spec("2026-07-28", "changelog#major-changes"),
    ),
    text=(
        "One call MUST be one `tools/call`: a second one only for a cause claimed in `resends_calls` "
        "or, in the modern era, for a lost stream, and never none because an equal call was made "
        "before."
    ),
    why="A tool with side effects runs twice, or a call that the user asked for is never made.",
    if_broken=(
        "do not retry on any exception",
        "do not answer a call from a cache of results",
        "name the causes of a resend in resends_calls",
    ),
)

RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER = Rule(
    id="CALL-2",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession.call_tool"),),
    text=(
        "The result of a call that the server has executed MUST reach the caller, whatever else fails "
        "around it."
    ),
    why="The work is done and its result lost, and whoever tries again has it done twice.",
    if_broken=(
        "do not let the error of a side request replace the result, as of a hidden tools/list after the call",
        "keep cache writes and refreshes off the way of the result",
        "hand out every part of a result, each text and the structured content",
    ),
)

EQUAL_CALLS_GET_THEIR_OWN_ANSWERS = Rule(
    id="CALL-3",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "basic#responses"), spec("2025-11-25", "basic#responses")),
    text="Equal calls that are out at the same time MUST each get their own answer, in any order of arrival.",
    why="One caller is handed what belongs to another.",
    if_broken=(
        "pair answers with calls by id, not by order",
        "do not use an id again while its call is open",
    ),
)

REQUEST_IDS_DO_NOT_CLASH = Rule(
    id="CALL-4",
    level=MUST,
    source=spec("2026-07-28", "basic#requests"),
    rests_on=(spec("2025-11-25", "basic#requests"),),
    text=(
        "Request ids MUST be strings or integers, never null, and clash with none used before in a "
        "handshake session and with none still open in the modern era; a retry has a new id."
    ),
    why="Two calls under one id get each other's answers, or one of them gets none.",
    if_broken=("count ids per connection, not per call", "give a request that is sent again a new id"),
)

LATE_ANSWER_HARMS_NOTHING = Rule(
    id="CALL-5",
    level=SHOULD,
    source=spec("2026-07-28", "basic/patterns/cancellation#behavior-requirements"),
    rests_on=(spec("2025-11-25", "basic/utilities/cancellation#behavior-requirements"),),
    text="A late answer to a call that was given up SHOULD be dropped and harm nothing.",
    why="One slow call makes the connection useless, or the next caller is given its answer.",
    if_broken=(
        "ignore an answer whose call was given up",
        "do not treat an id that nobody waits for as fatal",
    ),
    reports=(issue("strands-agents/harness-sdk", 1221),),
)

GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE = Rule(
    id="CALL-6",
    level=MUST,
    source=spec("2026-07-28", "basic/transports/stdio#cancellation"),
    core=True,
    rests_on=(
        spec("2026-07-28", "basic/transports/streamable-http#cancellation"),
        spec("2025-11-25", "basic/transports#sending-messages-to-the-server"),
        spec("2025-11-25", "basic/lifecycle#timeouts"),
    ),
    text=(
        "A call that is given up, by its caller or by the wrapper's own timeout, MUST (in the handshake "
        "era: SHOULD) be cancelled on the wire."
    ),
    why="The server works on for nobody, and side effects come after the user gave up.",
    if_broken=(
        "send notifications/cancelled with the call's id, or close its response stream over modern HTTP",
        "do more on a timeout than stop waiting",
        "check what the SDK sends when the caller's task is cancelled",
    ),
    should_in=HANDSHAKE,
    reports=(issue("modelcontextprotocol/python-sdk", 1458),),
)

CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST = Rule(
    id="CALL-7",
    level=MUST,
    source=spec("2026-07-28", "basic/patterns/cancellation#behavior-requirements"),
    rests_on=(spec("2025-11-25", "basic/utilities/cancellation#behavior-requirements"),),
    text=(
        "A client's cancellation MUST name only a request of its own that is still open, and never "
        "`initialize` in the handshake era."
    ),
    why="The server stops work that somebody else is waiting for.",
    if_broken=(
        "name the id of the call, not the last id sent",
        "send nothing for a call that was answered meanwhile",
    ),
)

FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE = Rule(
    id="CALL-8",
    level=MUST,
    source=KIT,
    core=True,
    text="One call's cancellation, timeout or failure MUST leave its siblings and the connection alone.",
    why="One slow or failing call takes every other call down with it.",
    if_broken=(
        "do not run calls in one task group that dies as a whole",
        "do not let a cancelled waiter end the task that serves the connection",
    ),
)

LIMIT_BOUNDS_THE_WHOLE_VERB = Rule(
    id="CALL-9",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2025-11-25", "basic/lifecycle#timeouts"),
        spec("2026-07-28", "basic/patterns/cancellation#timeouts"),
        sdk("mcp", "2.3.0", "ClientSession.call_tool(read_timeout_seconds=)"),
    ),
    text="The wrapper's limit MUST bound the whole verb: dial, walk, hidden list and call together.",
    why="The program waits for ever although the user set a limit.",
    if_broken=(
        "set one deadline around the verb instead of one for each request",
        "tell the waiter when a timer of the transport fires",
        "do not let progress extend the limit without a maximum",
    ),
    needs=frozenset({"own_timeout", "clock"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 1789),
        issue("openai/openai-agents-python", 580),
        issue("microsoft/agent-framework", 4938),
        issue("strands-agents/harness-sdk", 4403),
    ),
)

LONGER_LIMIT_IS_NOT_CUT_SHORT = Rule(
    id="CALL-10",
    level=MUST,
    source=KIT,
    text="A layer's default MUST NOT cut short a longer limit that the user set, per server or per call.",
    why="Long work fails although the user allowed time for it.",
    if_broken=("pass the limit on to every layer", "look for a fixed default of a few seconds underneath"),
    needs=frozenset({"own_timeout", "clock"}),
    reports=(
        issue("agno-agi/agno", 3241),
        issue("crewAIInc/crewAI", 3254),
        issue("agent0ai/agent-zero", 1431),
    ),
)

META_GOES_OUT_AND_COMES_BACK = Rule(
    id="CALL-11",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic#meta"), spec("2025-11-25", "basic#meta")),
    text=(
        "The caller's `_meta` MUST go out beside the progress token and the protocol's keys with the "
        "caller's object unchanged, and the result's `_meta` comes back."
    ),
    why="What the caller attached is lost on the way, or progress stops as soon as something is attached.",
    if_broken=(
        "merge into a copy of the caller's _meta",
        "do not let the progress token and the caller's keys replace each other",
        "hand the result's _meta on",
    ),
    needs=frozenset({"call_meta", "call_with"}),
    reports=(
        issue("PrefectHQ/fastmcp", 2526),
        issue("PrefectHQ/fastmcp", 2520),
        issue("sparfenyuk/mcp-proxy", 189),
        issue("modelcontextprotocol/typescript-sdk", 560),
        issue("modelcontextprotocol/csharp-sdk", 1463),
        issue("langchain4j/langchain4j", 5791),
    ),
)

PROGRESS_REACHES_ITS_OWN_CALL = Rule(
    id="CALL-12",
    level=MUST,
    source=spec("2026-07-28", "basic/patterns/progress#progress-flow"),
    rests_on=(spec("2025-11-25", "basic/utilities/progress#progress-flow"),),
    text=(
        "Progress tokens MUST be unique among the open calls, a progress notice reaches its own call "
        "only (kit), and nothing of one call's `_meta` rides on the next (kit)."
    ),
    why="Users watch the progress of a call that is not theirs.",
    if_broken=("keep one callback for each token", "do not keep a call's _meta on the client"),
    needs=frozenset({"call_meta", "progress", "call_with"}),
    reports=(issue("PrefectHQ/fastmcp", 4770),),
)

TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT = Rule(
    id="CALL-13",
    level=SHOULD,
    source=spec("2026-07-28", "server/tools#error-handling"),
    core=True,
    rests_on=(spec("2025-11-25", "server/tools#error-handling"),),
    text=(
        "A result with `isError` true SHOULD be shown as a failed tool with its text: not as a success, "
        "not as a crash of the run, not as a connection error."
    ),
    why="The model never learns what was wrong with its call, or one bad argument ends the run.",
    if_broken=("carry isError through every conversion", "do not raise it as a fatal error"),
)

PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL = Rule(
    id="CALL-14",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic#error-responses"), spec("2025-11-25", "basic#error-responses")),
    text=(
        "A JSON-RPC error, and a cancellation or fault born in the transport, MUST surface as an "
        "ordinary failed call with its code or cause."
    ),
    why="The caller's own task is cancelled, or an empty result passes for an answer.",
    if_broken=(
        "tell a cancellation inside the transport from one of the caller",
        "do not swallow errors when the session is left",
    ),
)

STALE_BINDING_IS_REFUSED = Rule(
    id="CALL-15",
    level=SHOULD,
    source=KIT,
    text=(
        "A handle of a tool that the newest list lacks SHOULD be refused and not sent; if it is sent, "
        "the server's error MUST be what the caller sees."
    ),
    why="A call of a tool that is gone reaches another tool, or is answered from memory.",
    if_broken=(
        "look the handle up in the newest list before sending",
        "do not map an old handle to another tool",
        "hand the server's error on",
    ),
    needs=frozenset({"bind"}),
    reports=(issue("NousResearch/hermes-agent", 65436),),
)

FAILED_CALL_IS_NEVER_REDIRECTED = Rule(
    id="CALL-16",
    level=MUST,
    source=KIT,
    core=True,
    text="A failed call MUST NOT become a call on another server, connection or principal.",
    why="What one user asked for is carried out on another's account.",
    if_broken=(
        "fix a call's server when its tool is looked up",
        "do not try the next client that has a tool of this name",
    ),
)

HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY = Rule(
    id="CALL-17",
    level=SHOULD,
    source=spec("2026-07-28", "basic/transports/streamable-http#client-behavior"),
    text=(
        "HTTP 400 with error -32020 SHOULD be answered by one list and one retry, through the wrapper's "
        "own path, and then by an error."
    ),
    why="A tool whose headers changed, or that was never listed, cannot be called.",
    if_broken=(
        "read the body of a 400 before raising",
        "list, then send the call once more under a new id",
        "stop at the second mismatch",
    ),
    needs=frozenset({"http"}),
    eras=MODERN,
    reports=(
        issue("modelcontextprotocol/python-sdk", 3483),
        issue("modelcontextprotocol/typescript-sdk", 2327),
    ),
)

HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH = Rule(
    id="CALL-18",
    level=MUST,
    source=spec("2026-07-28", "basic/transports/streamable-http#standard-request-headers"),
    rests_on=(spec("2026-07-28", "basic/transports/streamable-http#custom-headers-from-tool-parameters"),),
    text=(
        "Method, name and annotated arguments MUST be mirrored in HTTP headers on every path, from the "
        "newest listing, pages included."
    ),
    why="Servers and gateways that route by these headers refuse the call.",
    if_broken=(
        "set the headers below every path, raw requests included",
        "keep the header map of all pages, not of the last one",
        "renew the map with every listing",
    ),
    needs=frozenset({"http"}),
    eras=MODERN,
    reports=(
        issue("modelcontextprotocol/typescript-sdk", 2327),
        issue("modelcontextprotocol/python-sdk", 3483),
    ),
)

UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS = Rule(
    id="CALL-19",
    level=MUST,
    source=spec("2026-07-28", "basic#resulttype"),
    rests_on=(spec("2026-07-28", "basic/patterns/mrtr#client-requirements-basic-workflow"),),
    text=(
        "An unknown `resultType` MUST NOT pass for a success; an `input_required` that the wrapper cannot "
        "serve ends in a clear error, and rounds are bounded (kit)."
    ),
    why="A question from the server is handed out as if it were the answer, or the client asks without end.",
    if_broken=(
        "refuse a resultType that you do not know",
        "bound the rounds of one call",
        "send requestState back unchanged, on a retry of the same call only",
    ),
    eras=MODERN,
)

ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT = Rule(
    id="CALL-20",
    level=SHOULD,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic#responses"), spec("2025-11-25", "basic#responses")),
    text=(
        "An answer whose id has another type than the request's SHOULD be taken or fail the call, "
        "without the caller sitting out the timeout."
    ),
    why="A server that writes its ids as text costs the user a full timeout for each call.",
    if_broken=(
        "compare ids across types, or fail the call that is meant",
        "do not drop such an answer as unknown",
    ),
    reports=(issue("modelcontextprotocol/python-sdk", 1720), issue("modelcontextprotocol/python-sdk", 192)),
)

ARGUMENTS_ARRIVE_AS_GIVEN = Rule(
    id="CALL-21",
    level=MUST,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#calling-tools"),
        spec("2025-11-25", "server/tools#calling-tools"),
    ),
    text="The arguments of a call MUST arrive under the names and with the values that the caller gave them.",
    why="An argument that is called as a parameter of the wrapper is lost, or another tool is called.",
    if_broken=(
        "keep the arguments of a tool in a mapping of their own, not beside your own parameters",
        "do not look into the arguments for what is meant for you",
    ),
    reports=(issue("agno-agi/agno", 9379),),
)

CANCELLED_VERB_ENDS_AS_CANCELLED = Rule(
    id="CALL-22",
    level=SHOULD,
    source=KIT,
    rests_on=(python("asyncio-task#task-cancellation"),),
    text=(
        "A verb that its caller cancels SHOULD end as cancelled, and soon: not with a value, and not with "
        "another error."
    ),
    why=(
        "Whoever bounds a verb by asyncio.timeout, wait_for or anyio.fail_after gets a made-up result or a "
        "strange error in the place of the TimeoutError, or waits on."
    ),
    if_broken=(
        "raise the CancelledError again when the clean-up is done",
        "catch Exception, not BaseException, where a failure is made a result",
        "do not raise another error while a cancellation is under way, as by `raise ... from`",
    ),
)

EVERY_REQUEST_HAS_A_LIMIT = Rule(
    id="CALL-23",
    level=SHOULD,
    source=spec("2026-07-28", "basic/patterns/cancellation#timeouts"),
    rests_on=(spec("2025-11-25", "basic/lifecycle#timeouts"),),
    text=(
        "A request that is never answered SHOULD end its verb in the end: there is a limit of time for each, "
        "though nobody has set one."
    ),
    why="One server that falls silent holds up the program for good, and nothing says which one it is.",
    if_broken=(
        "give each request a limit by default, and let the user change it",
        "hand your limit down to the session: by default the SDK's session has none",
    ),
    needs=frozenset({"clock"}),
    reports=(issue("openai/openai-agents-python", 580),),
)

CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN = Rule(
    id="CALL-24",
    level=SHOULD,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "basic/patterns/cancellation#timeouts"),
        spec("2026-07-28", "server/tools#error-handling"),
        spec("2025-11-25", "basic/lifecycle#timeouts"),
        spec("2025-11-25", "server/tools#error-handling"),
    ),
    text=(
        "A call that runs into its limit SHOULD be one failed call of a run: the model is told of it, and "
        "the run goes on."
    ),
    why="One slow tool ends the work of an agent, and whatever it had done so far is lost.",
    if_broken=(
        "tell the model of a call that is given up as of any other that fails",
        "look for an error that the handler of failed tools lets pass",
    ),
    needs=frozenset({"own_timeout", "clock", "run"}),
    reports=(issue("openai/openai-agents-python", 2249),),
)
