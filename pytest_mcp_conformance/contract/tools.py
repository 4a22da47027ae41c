"""Definitions handed out (TOOL): what a user holds of a tool is whole, current and the user's own."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MODERN, MUST, SHOULD, Rule, issue, sdk, spec

EDITED_DEFINITION_CHANGES_NOTHING = Rule(
    id="TOOL-1",
    level=MUST,
    source=KIT,
    rests_on=(sdk("mcp", "2.3.0", "ClientSession.list_tools"),),
    text=(
        "Editing a definition that was handed out, or using it, MUST NOT change any check, later list "
        "or frame."
    ),
    why="One caller's edit switches a check off, or changes what another caller is shown.",
    if_broken=(
        "copy definitions in depth before handing them out",
        "do not rewrite a schema in place to convert it",
        "check whether the SDK below judges by the very dict that it hands out",
    ),
    reports=(issue("openai/openai-agents-python", 4525),),
)

SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED = Rule(
    id="TOOL-2",
    level=SHOULD,
    source=spec("2026-07-28", "server/tools#tool-names"),
    core=True,
    text=(
        "One name on two servers SHOULD leave both tools reachable, each call going to its own server, "
        "or be a clear error when built, never a silent shadow (in the handshake era: kit)."
    ),
    why="A call that was meant for one server is carried out by another.",
    if_broken=(
        "tell tools of one name apart, by a prefix for instance",
        "do not let the last one loaded win",
        "tell two accounts on one server apart as well",
    ),
    reports=(
        issue("openai/openai-agents-python", 3019),
        issue("pydantic/pydantic-ai", 1266),
        issue("langchain-ai/langchain-mcp-adapters", 174),
    ),
)

CHANGED_DEFINITION_IS_HANDED_OUT_NEW = Rule(
    id="TOOL-3",
    level=MUST,
    source=KIT,
    core=True,
    text=(
        "A known name with a new input schema or description MUST be handed out new, and local argument "
        "checks use it."
    ),
    why="The model writes arguments for the tool as it used to be, and right ones are refused unsent.",
    if_broken=(
        "do not cache argument models by name",
        "do not take a known name for a known tool",
        "renew the argument check with the list",
    ),
    reports=(issue("grll/mcpadapt", 42), issue("openai/codex", 33266)),
)

INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL = Rule(
    id="TOOL-4",
    level=MUST,
    source=spec("2026-07-28", "server/tools#x-mcp-header"),
    rests_on=(spec("2026-07-28", "basic/transports/streamable-http#custom-headers-from-tool-parameters"),),
    text="Over HTTP a tool with an invalid `x-mcp-header` MUST be left out, and the others stay.",
    why="One bad annotation takes all tools away, or a tool is offered that cannot be called properly.",
    if_broken=("check each tool's annotations by themselves", "do not fail the listing for one tool"),
    needs=frozenset({"http"}),
    eras=MODERN,
)

ORDER_IS_KEPT_AND_NAMES_COME_ONCE = Rule(
    id="TOOL-5",
    level=SHOULD,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#capabilities"),
        spec("2026-07-28", "server/utilities/caching#interaction-with-pagination"),
        sdk("mcp", "2.3.0", "ClientSession._absorb_tool_listing"),
    ),
    text="The server's order SHOULD be kept over pages and refetches, and a name comes once.",
    why="The model's prompt changes from list to list, or holds a tool twice.",
    if_broken=(
        "keep the tools in the order of the answer, not in a set",
        "drop the second tool of a name, and check by the one that was kept",
    ),
    reports=(issue("microsoft/agent-framework", 5911), issue("microsoft/agent-framework", 4381)),
)

REMOVED_TOOL_DISAPPEARS = Rule(
    id="TOOL-6",
    level=MUST,
    source=KIT,
    text="A removed tool MUST disappear from every view after a refetch.",
    why="Users and models go on calling a tool that no longer exists.",
    if_broken=(
        "replace the list instead of merging into it",
        "look at refreshes of one server, and at indexes built from the list",
    ),
    reports=(issue("pydantic/pydantic-ai", 3227),),
)

DEFINITION_IS_HANDED_OUT_WHOLE = Rule(
    id="TOOL-7",
    level=SHOULD,
    source=KIT,
    rests_on=(
        spec("2026-07-28", "server/tools#tool"),
        spec("2025-11-25", "server/tools#tool"),
        spec("2026-07-28", "basic#meta"),
        spec("2025-11-25", "basic#result-responses"),
    ),
    text=(
        "Title, annotations, icons, `_meta`, unknown fields and each tool's own `$defs` SHOULD be "
        "handed out as listed, and unknown ones break nothing."
    ),
    why="Hints that the server gave are lost, or one new field makes the list fail.",
    if_broken=(
        "resolve $defs within each tool, not by bare name across tools",
        "do not reject fields that you do not know",
        "do not hold a field to what a later revision says of it",
    ),
    reports=(issue("modelcontextprotocol/python-sdk", 3223),),
)

MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS = Rule(
    id="TOOL-8",
    level=SHOULD,
    source=KIT,
    rests_on=(spec("2026-07-28", "server/tools#x-mcp-header"),),
    text=(
        "One entry that is malformed, or whose schema the wrapper cannot read, SHOULD NOT take the good "
        "tools down: they are listed, or an error names the entry."
    ),
    why="One faulty tool makes a whole server unusable, or lets it look empty.",
    if_broken=("read each entry by itself", "never turn a parse error into an empty list"),
    reports=(
        issue("microsoft/autogen", 6444),
        issue("run-llama/llama_index", 19899),
    ),
)

NAME_GOES_BACK_AS_LISTED = Rule(
    id="TOOL-9",
    level=SHOULD,
    source=spec("2026-07-28", "server/tools#tool-names"),
    rests_on=(spec("2025-11-25", "server/tools#tool-names"),),
    text=(
        "Names SHOULD be taken as case-sensitive: each goes back to the server exactly as listed, "
        "though shown in another form, and forms that collide stay apart (kit)."
    ),
    why="The server does not know the name that comes back, or the call reaches another tool.",
    if_broken=(
        "keep the listed name beside the one that is shown",
        "do not lower names or replace signs in them on the way back",
        "look for two names that are shown as one",
    ),
    reports=(issue("openai/openai-agents-python", 3019),),
)

TOOLS_OF_ONE_NAME_ARE_TOLD_APART = Rule(
    id="TOOL-10",
    level=SHOULD,
    source=spec("2026-07-28", "server/tools#tool-names"),
    text=(
        "One object of several servers SHOULD have a way to tell their tools of one name apart, a prefix for "
        "instance: that a name is taken already does not keep them from being used (in the handshake era: "
        "kit)."
    ),
    why="Servers do not know of each other, and two that were never used together cannot be.",
    if_broken=(
        "prefix names by what the user calls the server, or offer that as an option",
        "do not tell servers apart by the name that they give themselves",
    ),
    needs=frozenset({"together"}),
    reports=(issue("openai/openai-agents-python", 3019),),
)
