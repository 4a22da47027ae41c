"""Wrong wrappers of KEY."""

from __future__ import annotations

import json
from hashlib import sha256

from mcp_conformance_reference.keys import Declaration, key_of, read_declaration

from pytest_mcp_conformance.adapters._reference import WhiteBox
from pytest_mcp_conformance.contract.keys import (
    DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS,
    KEY_COVERS_THE_PRINCIPAL,
    KEY_COVERS_WHAT_THE_DIAL_READS,
    KIND_IS_READ_ONCE,
    MEMBERS_ARE_READ_ONCE,
    NO_PRINCIPAL_IS_NO_NAME,
    ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED,
    SECRETS_ARE_NOT_READABLE_IN_THE_KEY,
    STARTUP_BOUND_IS_KEYED,
    UNDECLARED_FINGERPRINT_CHANGES_NOTHING,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def reading(change):
    """A `key_of` whose reading of the declaration is changed before the key is made of it."""

    def wrong(declaration, principal, kind, startup):
        read = read_declaration(declaration)
        return key_of(Declaration(**{**vars(read), **change(read)}), principal, kind, startup)

    return wrong


def hashed(*fields):
    return sha256(json.dumps(fields).encode()).hexdigest()


@breaks(KEY_COVERS_WHAT_THE_DIAL_READS)
class KeyedByAddress(Client):
    """Of the transport only the address and the command are in the key."""

    white_box = WhiteBox(
        key_of=reading(
            lambda read: {
                "transport": {each: read.transport.get(each) for each in ("url", "command", "args", "env")}
            }
        )
    )


@breaks(KEY_COVERS_WHAT_THE_DIAL_READS)
class NameIsLeftOut(Client):
    """Two servers with one transport have one key."""

    white_box = WhiteBox(key_of=reading(lambda read: {"name": ""}))


@breaks(KEY_COVERS_WHAT_THE_DIAL_READS)
class KnownMembersOnly(Client):
    """Members of the transport that the key does not know by name are left out."""

    white_box = WhiteBox(
        key_of=reading(
            lambda read: {
                "transport": {
                    each: value
                    for each, value in read.transport.items()
                    if each in ("command", "args", "env", "cwd", "url", "headers")
                }
            }
        )
    )


@breaks(KEY_COVERS_THE_PRINCIPAL)
class PrincipalIsLeftOut(Client):
    """Whoever the task runs under, the key is the same; nobody's is another one."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(
            declaration, principal if principal not in ("ann", "bob") else "somebody", kind, startup
        )
    )


@breaks(NO_PRINCIPAL_IS_NO_NAME)
class PrincipalIsMadeText(Client):
    """No principal is the text None."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(
            declaration, str(principal), kind, startup
        )
    )


@breaks(NO_PRINCIPAL_IS_NO_NAME)
class EmptyPrincipalIsNone(Client):
    """An empty principal is taken for none."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(
            declaration, principal or None, kind, startup
        )
    )


@breaks(DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS)
class FieldsAreJoined(Client):
    """The fields are joined with a bar between them."""

    @staticmethod
    def key(declaration, principal, kind, startup):
        read = read_declaration(declaration)
        fields = (read.name, read.transport.get("command"), kind, json.dumps(principal))
        joined = "|".join(map(str, fields))
        rest = [read.transport, read.fingerprint, startup is not None and float(startup)]
        if read.elicits:
            return None
        rest[0] = {each: value for each, value in read.transport.items() if each != "command"}
        return sha256(f"{joined}{json.dumps(rest, sort_keys=True)}".encode()).hexdigest()

    white_box = WhiteBox(key_of=key)


@breaks(DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS)
class ArgumentsAreJoined(Client):
    """The arguments are joined to a command line."""

    white_box = WhiteBox(
        key_of=reading(
            lambda read: {
                "transport": {
                    each: " ".join(map(str, value)) if each == "args" and isinstance(value, list) else value
                    for each, value in read.transport.items()
                }
            }
        )
    )


@breaks(DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS)
class ValuesAreMadeText(Client):
    """Every value is made a text first."""

    white_box = WhiteBox(
        key_of=reading(
            lambda read: {"transport": {each: str(value) for each, value in sorted(read.transport.items())}}
        )
    )


@breaks(ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED)
class MapsAreKeyedInOrder(Client):
    """The key keeps the order in which the members of a map were written down."""

    white_box = WhiteBox(key_of=reading(lambda read: {"transport": {"in order": json.dumps(read.transport)}}))


@breaks(ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED)
class ArgumentsAreSorted(Client):
    """Lists are sorted as maps are."""

    white_box = WhiteBox(
        key_of=reading(
            lambda read: {
                "transport": {
                    each: sorted(value, key=str) if isinstance(value, list) else value
                    for each, value in read.transport.items()
                }
            }
        )
    )


@breaks(UNDECLARED_FINGERPRINT_CHANGES_NOTHING)
class FingerprintIsLeftOut(Client):
    """A fingerprint makes no difference."""

    white_box = WhiteBox(key_of=reading(lambda read: {"fingerprint": None}))


@breaks(UNDECLARED_FINGERPRINT_CHANGES_NOTHING)
class NoFingerprintIsAField(Client):
    """A fingerprint that is declared as none is a field of its own."""

    @staticmethod
    def key(declaration, principal, kind, startup):
        plain = key_of(declaration, principal, kind, startup)
        if plain and "fingerprint" in declaration and declaration["fingerprint"] is None:
            return hashed(plain, None)
        return plain

    white_box = WhiteBox(key_of=key)


@breaks(UNDECLARED_FINGERPRINT_CHANGES_NOTHING)
class EmptyFingerprintIsNone(Client):
    """An empty fingerprint is taken for an undeclared one."""

    white_box = WhiteBox(key_of=reading(lambda read: {"fingerprint": read.fingerprint or None}))


@breaks(STARTUP_BOUND_IS_KEYED)
class BoundIsLeftOut(Client):
    """The startup bound makes no difference."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(declaration, principal, kind, None)
    )


@breaks(STARTUP_BOUND_IS_KEYED)
class NoTimeIsNoBound(Client):
    """A bound of 0 seconds is taken for none."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(
            declaration, principal, kind, startup or None
        )
    )


@breaks(STARTUP_BOUND_IS_KEYED)
class BoundAndFingerprintShareAPlace(Client):
    """A declared fingerprint and a bound stand in the same place of the key."""

    @staticmethod
    def key(declaration, principal, kind, startup):
        read = read_declaration(declaration)
        plain = key_of({**declaration, "fingerprint": None}, principal, kind, None)
        last = read.fingerprint if startup is None else float(startup)
        return plain if last is None or plain is None else hashed(plain, last)

    white_box = WhiteBox(key_of=key)


@breaks(KIND_IS_READ_ONCE)
class KindIsReadAgain(Client):
    """The key takes the kind from the declaration."""

    white_box = WhiteBox(
        key_of=lambda declaration, principal, kind, startup: key_of(
            declaration, principal, [kind, dict(declaration["transport"]).get("kind")], startup
        )
    )


@breaks(MEMBERS_ARE_READ_ONCE)
class MembersAreReadTwice(Client):
    """Each member is looked at before it is read for the key."""

    @staticmethod
    def key(declaration, principal, kind, startup):
        transport = declaration["transport"]
        for member in transport:
            if member != "kind" and transport[member] is None:
                raise ValueError(f"{member} is declared as nothing")
        return key_of({**declaration, "transport": transport}, principal, kind, startup)

    white_box = WhiteBox(key_of=key)


@breaks(SECRETS_ARE_NOT_READABLE_IN_THE_KEY)
class KeyIsReadable(Client):
    """The key is the JSON text of its fields."""

    @staticmethod
    def key(declaration, principal, kind, startup):
        read = read_declaration(declaration)
        if key_of(read, principal, kind, startup) is None:
            return None
        bound = None if startup is None else float(startup)
        return json.dumps([{**vars(read), "elicits": None}, principal, kind, bound], sort_keys=True)

    white_box = WhiteBox(key_of=key)
