"""Tenants (TEN): headers, sessions, lists and questions stay with the principal they belong to."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, Rule, issue, sdk, spec

FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS = Rule(
    id="TEN-1",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "basic/authorization#token-handling"),),
    text="A frame of one principal MUST NOT carry another's headers.",
    why="One user acts under another's name.",
    if_broken=(
        "build the headers anew for each connection",
        "do not fill in a shared options object",
        "look for defaults on a shared HTTP client",
    ),
    needs=frozenset({"isolates_principals"}),
    reports=(issue("danny-avila/LibreChat", 7247), issue("microsoft/agent-framework", 7305)),
)

HEADERS_RIDE_ON_ALL_TRAFFIC = Rule(
    id="TEN-2",
    level=MUST,
    source=spec("2026-07-28", "basic/authorization#token-requirements"),
    rests_on=(spec("2025-11-25", "basic/authorization#token-requirements"),),
    text=(
        "The Authorization header MUST ride on all HTTP traffic, as other configured headers do (kit); "
        "a header given per call is applied or refused, never dropped in silence (kit)."
    ),
    why=(
        "Calls work while notices, listings or the end of the session are refused, or an override does "
        "nothing."
    ),
    if_broken=(
        "set the headers on the handshake, notifications, GET, listen and DELETE, not on calls only",
        "carry them over a re-dial",
        "refuse a header per call that cannot be applied",
    ),
    needs=frozenset({"isolates_principals", "http"}),
    reports=(issue("microsoft/agent-framework", 7305),),
)

PRINCIPALS_NEVER_SHARE_A_SESSION = Rule(
    id="TEN-3",
    level=MUST,
    source=KIT,
    core=True,
    text="Two principals MUST NOT share a session or a child process, however alike they are.",
    why="One user reads and writes in another's session.",
    if_broken=(
        "key sessions by the whole principal, not by the URL and a hash of headers",
        "do not join strings into a key",
        "tell an absent value from an empty one and from the word None",
    ),
    needs=frozenset({"isolates_principals"}),
    reports=(issue("IBM/mcp-context-forge", 4299),),
)

LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL = Rule(
    id="TEN-4",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "server/tools#capabilities"), sdk("mcp", "2.3.0", "Client.list_tools")),
    text="Lists and output checks MUST stay with their principal.",
    why="One user is shown what only another may use, and has answers judged by the other's schemas.",
    if_broken=(
        "keep lists and schemas per principal, not per server name",
        "look for a response cache that several clients share",
    ),
    needs=frozenset({"isolates_principals", "checks_output"}),
    reports=(issue("PrefectHQ/fastmcp", 4461), issue("redhat-data-and-ai/template-agent", 65)),
)

PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER = Rule(
    id="TEN-5",
    level=MUST,
    source=KIT,
    text="One principal's hanging or failing dial, list or call MUST NOT hold up another's.",
    why="One user with a slow or refused login stops everybody.",
    if_broken=("do not hold one lock around all dials", "keep a refused login to its own principal"),
    needs=frozenset({"isolates_principals"}),
)

REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN = Rule(
    id="TEN-6",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic/authorization#token-handling"),),
    text=(
        "After a credential is replaced the old one MUST NOT be sent again, the session of the same "
        "principal goes on, and private lists are not carried to another principal."
    ),
    why="A revoked token stays in use, or every renewal costs the user the session.",
    if_broken=(
        "read the credential for each request",
        "do not keep a token until its expiry",
        "do not take a rotation for another user",
    ),
    needs=frozenset({"set_principal", "http"}),
)

STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN = Rule(
    id="TEN-7",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic#auth"),),
    text="On stdio two principals MUST get two child processes, or the wrapper refuses a principal there.",
    why="Two users share one process, which runs with the credentials of the first.",
    if_broken=(
        "put the environment into the key of the child",
        "refuse a principal that consists of headers",
    ),
    needs=frozenset({"isolates_principals", "stdio"}),
)

QUESTIONS_REACH_THEIR_OWN_PRINCIPAL = Rule(
    id="TEN-8",
    level=MUST,
    source=KIT,
    core=True,
    rests_on=(spec("2026-07-28", "basic/patterns/mrtr#client-requirements-basic-workflow"),),
    text="Questions, logs and progress MUST reach the call and the principal that they belong to.",
    why="One user is asked for another, and reads another's log.",
    if_broken=(
        "keep handlers on the connection that they were given for",
        "do not write handlers into shared settings or into the first client",
    ),
    needs=frozenset({"isolates_principals", "callbacks", "received"}),
)

CALLERS_CONFIGURATION_IS_LEFT_ALONE = Rule(
    id="TEN-9",
    level=MUST,
    source=KIT,
    text=(
        "The caller's configuration MUST be read once and left alone: it is not written to, and later "
        "edits do not move what was handed out to another principal."
    ),
    why="A second connect from the same settings fails, or acts for the wrong user.",
    if_broken=("copy the settings when they are given", "do not fill values into the caller's object"),
    needs=frozenset({"isolates_principals", "http"}),
    reports=(issue("grll/mcpadapt", 66), issue("danny-avila/LibreChat", 7247)),
)

PROXY_SENDS_ITS_OWN_CREDENTIAL = Rule(
    id="TEN-10",
    level=MUST,
    source=spec(
        "2026-07-28", "basic/authorization/security-considerations#access-token-privilege-restriction"
    ),
    rests_on=(spec("2025-11-25", "basic/authorization#access-token-privilege-restriction"),),
    text=(
        "A proxying wrapper MUST send the back end its own credential, never the front end's, and its "
        "own transport headers as well (kit)."
    ),
    why="The back end is given a token that was never meant for it.",
    if_broken=(
        "build the back end's headers from the back end's settings",
        "do not copy headers or _meta from one hop to the next",
    ),
    needs=frozenset({"proxies", "front", "http"}),
    reports=(issue("PrefectHQ/fastmcp", 3262), issue("PrefectHQ/fastmcp", 4770)),
)

CREDENTIAL_STAYS_WITH_ITS_ORIGIN = Rule(
    id="TEN-11",
    level=MUST,
    source=KIT,
    rests_on=(spec("2026-07-28", "basic/authorization#token-handling"),),
    text=(
        "A principal's headers and the id of a session MUST NOT be sent to another origin that a redirect "
        "names."
    ),
    why="A server, or whoever can answer in its name, has the user's token sent to a host of its choice.",
    if_broken=(
        "follow no redirect that leaves the origin: the scheme, the host and the port",
        "do not add headers anew to a request that a redirect has made",
    ),
    needs=frozenset({"isolates_principals", "http"}),
    reports=(
        issue("modelcontextprotocol/python-sdk", 3397),
        issue("microsoft/agent-framework", 5820),
    ),
)
