"""Output checks (CHK): which definition judges an answer, and what a failed check may and may not do."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MODERN, MUST, SHOULD, Rule, issue, sdk, spec

INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD = Rule(
    id="CHK-1",
    level=SHOULD,
    source=spec("2026-07-28", "server/tools#output-schema"),
    core=True,
    rests_on=(spec("2025-11-25", "server/tools#output-schema"),),
    text="Structured content that breaks the tool's `outputSchema` SHOULD NOT be handed out as good.",
    why="A program works on with a value that the tool promised never to give.",
    if_broken=(
        "check structuredContent against the listed outputSchema",
        "look for a check that was lost on the way from the list to the call",
    ),
    needs=frozenset({"checks_output"}),
)

MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD = Rule(
    id="CHK-2",
    level=SHOULD,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#output-schema"),
        spec("2025-11-25", "server/tools#output-schema"),
        sdk("mcp", "2.3.0", "ClientSession.call_tool"),
    ),
    text=(
        "A success without structured content SHOULD NOT be handed out as good where the tool declared "
        "an `outputSchema`."
    ),
    why="The promised value is not there, and the program learns of it later or never.",
    if_broken=("look for absent structured content too, not only for wrong values",),
    needs=frozenset({"checks_output"}),
)

ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING = Rule(
    id="CHK-3",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "1.30.0", "ClientSession.list_tools"),),
    text="Answers MUST be judged by the newest listing that the wrapper has taken.",
    why="Valid answers of a changed tool are refused, and wrong ones pass.",
    if_broken=(
        "replace the schemas with every listing, of each tool that it has",
        "do not let the answers of a tool that is gone through unchecked for that: see CHK-11",
        "check whether the SDK below merges listings instead",
    ),
    needs=frozenset({"checks_output"}),
)

LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK = Rule(
    id="CHK-4",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"),),
    text="An older listing that is answered late MUST NOT bring its schemas back.",
    why="Valid answers of a changed tool are refused until the next list.",
    if_broken=(
        "take schemas only from a listing newer than the one in force",
        "do not absorb listings in the order of arrival",
    ),
    needs=frozenset({"checks_output"}),
)

DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE = Rule(
    id="CHK-5",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"),),
    text="A listing that the wrapper threw away MUST NOT change the output checks either.",
    why="Answers are judged by a list that nobody was shown.",
    if_broken=(
        "test the generation before absorbing any schema",
        "look at what the SDK below absorbs by itself",
    ),
    needs=frozenset({"checks_output", "reacts_to_list_changed"}),
)

CACHE_HIT_LEAVES_THE_CHECKS_ALONE = Rule(
    id="CHK-6",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "Client.list_tools"),),
    text="A list answered from a cache MUST NOT roll a newer output check back.",
    why="Reading the list again, with nothing sent, makes valid answers fail.",
    if_broken=(
        "absorb schemas when an answer arrives, not when the cache is read",
        "renew the cached list and the checks together",
    ),
    needs=frozenset({"caches_listings", "checks_output"}),
)

CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER = Rule(
    id="CHK-7",
    level=SHOULD,
    source=KIT,
    rests_on=(sdk("@modelcontextprotocol/client", "2.4.0", "Client.callTool"),),
    text="An answer SHOULD be judged by the definition that was in force when its call was sent.",
    why="A list refreshed meanwhile makes a valid answer fail, or lets a wrong one pass.",
    if_broken=(
        "take hold of the definition before sending, and judge by it",
        "do not look the schema up after the answer",
    ),
    needs=frozenset({"checks_output"}),
    reports=(issue("modelcontextprotocol/typescript-sdk", 2612),),
)

BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL = Rule(
    id="CHK-8",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(
        spec("2026-07-28", "basic#json-schema-usage"),
        spec("2025-11-25", "basic#json-schema-usage"),
        sdk("@modelcontextprotocol/sdk", "1.32.2", "Client.listTools"),
    ),
    text="One `outputSchema` that does not compile MUST touch only its own tool.",
    why="A single bad schema takes all tools of a server, or all of their checks, away.",
    if_broken=(
        "compile each schema by itself and catch its error",
        "check that the tools listed behind the broken one keep their checks",
    ),
    needs=frozenset({"checks_output"}),
    reports=(
        issue("NousResearch/hermes-agent", 101344),
        issue("modelcontextprotocol/typescript-sdk", 2614),
        issue("anomalyco/opencode", 21591),
    ),
)

TOOLS_OF_EVERY_PAGE_ARE_CHECKED = Rule(
    id="CHK-9",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession.call_tool"),),
    text="The tools of every page MUST be checked, after a walk and after one page was read again.",
    why="Wrong answers of the tools on other pages pass unseen.",
    if_broken=(
        "gather the schemas of all pages before replacing any",
        "do not let one page replace the schemas of the walk",
        "look for a hidden list that reads page one only",
    ),
    needs=frozenset({"checks_output"}),
)

FAILED_LIST_LEAVES_THE_CHECKS_ALONE = Rule(
    id="CHK-10",
    level=MUST,
    source=KIT,
    rests_on=(sdk("@modelcontextprotocol/sdk", "1.32.2", "Client.listTools"),),
    text="A list that fails MUST leave the output checks as they were.",
    why="After a passing fault every wrong answer is handed out as good.",
    if_broken=("build the new checks aside and swap them in at the end", "do not clear the old checks first"),
    needs=frozenset({"checks_output"}),
    reports=(issue("modelcontextprotocol/typescript-sdk", 2614),),
)

VANISHED_TOOL_IS_NEVER_UNCHECKED = Rule(
    id="CHK-11",
    level=MUST,
    source=KIT,
    text=(
        "A tool that was listed with a schema and is missing from a later good list MUST be refused or "
        "still judged, never let through unchecked."
    ),
    why="The check disappears without a word as soon as the list and the tool disagree.",
    if_broken=(
        "do not read an unknown name as no check",
        "refuse a tool that the newest list lacks, or keep its last schema",
    ),
    needs=frozenset({"checks_output"}),
)

TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA = Rule(
    id="CHK-12",
    level=SHOULD,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#error-handling"),
        spec("2025-11-25", "server/tools#error-handling"),
        sdk("@modelcontextprotocol/sdk", "1.32.2", "Client.callTool"),
    ),
    text="A result with `isError` true SHOULD NOT be judged by the tool's `outputSchema`.",
    why="The text that says what went wrong is lost behind a complaint about its form.",
    if_broken=("look at isError before the check", "hand the error's text on"),
    needs=frozenset({"checks_output"}),
)

FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE = Rule(
    id="CHK-13",
    level=MUST,
    source=KIT,
    core=True,
    text=(
        "A failed output check MUST NOT be taken for a transport failure: no resend, no re-dial, and "
        "the connection stays."
    ),
    why="A tool whose first run succeeded is run again.",
    if_broken=(
        "keep the error of a check apart from transport errors",
        "narrow an `except Exception` that retries",
    ),
    needs=frozenset({"checks_output"}),
)

EVERY_JSON_VALUE_IS_A_VALUE = Rule(
    id="CHK-14",
    level=MUST,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#structured-content"),
        sdk("mcp", "2.3.0", "ClientSession.call_tool"),
    ),
    text=(
        "Null, arrays, numbers, strings and false MUST count as structured content that is present, and "
        "be judged as such."
    ),
    why="A tool whose honest answer is null, zero or false looks as if it had given none.",
    if_broken=("test whether structuredContent is there, not whether it is true", "do not demand an object"),
    needs=frozenset({"checks_output"}),
    eras=MODERN,
)

SCHEMA_IS_READ_IN_ITS_OWN_DIALECT = Rule(
    id="CHK-15",
    level=MUST,
    source=spec("2026-07-28", "basic#implementation-requirements"),
    rests_on=(
        spec("2026-07-28", "basic#json-schema-usage"),
        spec("2025-11-25", "basic#implementation-requirements"),
    ),
    text=(
        "A schema MUST be read in the dialect it declares, 2020-12 by default, and an unknown dialect "
        "is an error about that tool."
    ),
    why="Keywords of another dialect are passed over, and wrong answers with them.",
    if_broken=(
        "choose the validator by $schema, and 2020-12 without one",
        "name the unknown dialect in an error of that one tool",
    ),
    needs=frozenset({"checks_output"}),
)

NETWORK_REFERENCE_IS_NEVER_FETCHED = Rule(
    id="CHK-16",
    level=MUST,
    source=spec("2026-07-28", "basic#ref-resolution"),
    text=(
        "A `$ref` to a network address MUST NOT be fetched, and the result that it should have judged "
        "SHOULD be refused rather than let through."
    ),
    why="A server makes the user's machine send requests to addresses of the server's choice.",
    if_broken=(
        "switch off remote resolution in the validator",
        "do not read an unresolved schema as one that allows anything",
    ),
    needs=frozenset({"checks_output"}),
    eras=MODERN,
)

CALLS_DO_NOT_EACH_COST_A_LISTING = Rule(
    id="CHK-17",
    level=SHOULD,
    source=KIT,
    text="A number of calls SHOULD NOT cost as many listings.",
    why="Every call pays for a hidden list of the whole server.",
    if_broken=(
        "look for a tools/list that the SDK adds to a call",
        "keep the definitions of all pages, so that no call must look one up",
    ),
    reports=(issue("pydantic/pydantic-ai", 3560), issue("pydantic/pydantic-ai", 3218)),
)

REFUSAL_KEEPS_WHAT_IT_HELD = Rule(
    id="CHK-18",
    level=SHOULD,
    source=KIT,
    text="What a refused answer held SHOULD still be readable from the refusal.",
    why="The tool did its work, and the only account of it is thrown away.",
    if_broken=("carry the result in the error", "put the text of the content in the error's message"),
    needs=frozenset({"checks_output", "refusal_payload"}),
    reports=(issue("NousResearch/hermes-agent", 101344),),
)
