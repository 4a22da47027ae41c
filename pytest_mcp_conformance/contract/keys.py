"""The pool's key (KEY): what makes two declarations of a server the same connection."""

from __future__ import annotations

from pytest_mcp_conformance.contract._rule import KIT, MUST, SHOULD, Rule, seed

_POOL = seed("mcp-connection-pool")

KEY_COVERS_WHAT_THE_DIAL_READS = Rule(
    id="KEY-1",
    level=MUST,
    source=_POOL,
    text=(
        "The key MUST cover the server's name, the transport's kind and every member of the transport "
        "that the dial reads."
    ),
    why="Two servers, or one server with two sets of headers, are taken for one.",
    if_broken=(
        "put every member in, not the url alone",
        "cover members that are not known by name as well",
    ),
    needs=frozenset({"key_of"}),
)

KEY_COVERS_THE_PRINCIPAL = Rule(
    id="KEY-2",
    level=MUST,
    source=_POOL,
    text="The key MUST cover the principal: two principals never share a connection.",
    why="One user's calls are made with another user's rights.",
    if_broken=("make the principal a field of the key",),
    needs=frozenset({"key_of"}),
)

NO_PRINCIPAL_IS_NO_NAME = Rule(
    id="KEY-3",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text="No principal, an empty one, and one whose name reads like none MUST be different principals.",
    why="Work without a user is done in the name of whoever is called None.",
    if_broken=(
        "do not turn the principal into text before it is encoded",
        "test for None, not for an empty value",
    ),
    needs=frozenset({"key_of"}),
)

DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS = Rule(
    id="KEY-4",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "Different fields MUST give different keys, whatever signs the values contain and however they "
        "are grouped."
    ),
    why="A name with the right sign in it leads to another server's connection.",
    if_broken=(
        "encode the fields as a JSON array instead of joining them",
        "keep lists, texts and numbers apart",
    ),
    needs=frozenset({"key_of"}),
)

ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED = Rule(
    id="KEY-5",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "The order of maps, which a dial does not see, SHOULD NOT split the key; the order of "
        "arguments, which it sees, does."
    ),
    why="One server gets two connections, or two commands get one.",
    if_broken=(
        "sort the names of maps when encoding",
        "never sort a list",
    ),
    needs=frozenset({"key_of"}),
)

UNDECLARED_FINGERPRINT_CHANGES_NOTHING = Rule(
    id="KEY-6",
    level=MUST,
    source=_POOL,
    text=(
        "A declared fingerprint MUST be part of the key, and an undeclared one leaves the key as it is "
        "without."
    ),
    why=(
        "Mounts that the host tells apart share a connection, or all keys change with a feature that "
        "nobody uses."
    ),
    if_broken=(
        "add the field only where it is declared",
        "tell an undeclared fingerprint from every text",
    ),
    needs=frozenset({"key_of"}),
)

STARTUP_BOUND_IS_KEYED = Rule(
    id="KEY-7",
    level=MUST,
    source=_POOL,
    text=(
        "A startup bound in force, 0 included, MUST be part of the key, and no bound leaves the key as "
        "it is without."
    ),
    why="A mount waits for a dial that runs by another mount's clock.",
    if_broken=(
        "make the bound a field of the key",
        "test for None, for 0 is a bound",
    ),
    needs=frozenset({"key_of"}),
)

KIND_IS_READ_ONCE = Rule(
    id="KEY-8",
    level=MUST,
    source=_POOL,
    text="The transport's kind MUST be read once, by the dial, and come to the key as the dial read it.",
    why=("A transport that answers differently to two readers is dialled as one kind and leased as another."),
    if_broken=("take the kind as an argument, and leave the member unread",),
    needs=frozenset({"key_of"}),
)

MEMBERS_ARE_READ_ONCE = Rule(
    id="KEY-9",
    level=MUST,
    source=KIT,
    rests_on=(_POOL,),
    text=(
        "Every other member MUST be read once for a key, so that the dial can be made from the same reading."
    ),
    why="The key says one thing and the connection that is leased under it another.",
    if_broken=("copy the declaration once, and make key and dial from the copy",),
    needs=frozenset({"key_of"}),
)

SECRETS_ARE_NOT_READABLE_IN_THE_KEY = Rule(
    id="KEY-10",
    level=SHOULD,
    source=KIT,
    rests_on=(_POOL,),
    text="Secrets in a declaration SHOULD NOT be readable from the key.",
    why="Tokens are written to every log that names a connection.",
    if_broken=("make a digest of the fields",),
    needs=frozenset({"key_of"}),
)
