"""Scenarios of KEY: which declarations lease one connection, and which never do."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract._outcome import describe
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
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, reached
from pytest_mcp_conformance.scenarios._legs import legs_of
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import ScriptedServer

LOCAL = {"command": "serve", "args": ["-a", "b"], "env": {"A": "1", "B": "2"}, "cwd": "/srv"}
REMOTE = {"url": "https://example.org/mcp", "headers": {"X-A": "1", "X-B": "2"}}

STRANGE = (
    *(None, {}, {1: "x"}, {"1": "x"}, {None: "x"}, {"null": "x"}, {"None": "x"}, {True: "x"}, {"true": "x"}),
    *({"A": each} for each in (b"x", b"y", None, "\U0001f600", "\ud83d\ude00", "\ud83d")),
)
"""Environments that are hardly ones: each has a key of its own, or is refused."""


def declared(transport: Mapping[str, Any] = LOCAL, name: str = "server", **more: Any) -> dict[str, Any]:
    """A declaration."""
    return {"name": name, "transport": {"kind": "stdio", **transport}, **more}


@scenario(KEY_COVERS_WHAT_THE_DIAL_READS, KEY_COVERS_THE_PRINCIPAL, NO_PRINCIPAL_IS_NO_NAME, eras=HANDSHAKE)
async def declarations_that_differ_in_one_member(server: ScriptedServer, connect: Connect) -> None:
    """Name, kind, each member of two transports, and the principal: one at a time is another one."""
    async with connect(server) as wrapper:
        key = _key_of(wrapper)
        for base, members in (
            (LOCAL, {"command": "run", "args": ["b", "-a"], "env": {"A": "1"}, "cwd": "/", "more": "x"}),
            (REMOTE, {"url": "https://example.org/", "headers": {"X-A": "1", "X-B": "3"}, "timeout": 5}),
        ):
            with check(KEY_COVERS_WHAT_THE_DIAL_READS):
                others = [declared({**base, member: value}) for member, value in members.items()]
                others += [
                    declared({each: value for each, value in base.items() if each != left_out})
                    for left_out in base
                ]
                others.append(declared({**base, "cwd": PurePosixPath("/somewhere/else")}))
                keys = [key(each) for each in (declared(base), declared(base, "another"), *others)]
                keys += [key(declared(base), kind="http"), key(declared(base), kind=None)]
                assert _twice(keys) == {}
                assert key(declared(base)) == keys[0], "one declaration has two keys"
        with check(KEY_COVERS_THE_PRINCIPAL):
            assert key(declared(), principal="ann") != key(declared(), principal="bob")
        with check(NO_PRINCIPAL_IS_NO_NAME):
            nobody = (None, "", "None", "none", "null", "undefined", "nil", "0", "False", " ")
            assert _twice([key(declared(), principal=each) for each in nobody]) == {}


@scenario(DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS, ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED, eras=HANDSHAKE)
async def fields_that_run_together(server: ScriptedServer, connect: Connect) -> None:
    """Values with separators, quotes and blanks in them, cut in different places; maps in another order."""
    async with connect(server) as wrapper:
        key = _key_of(wrapper)
        with check(DIFFERENT_FIELDS_ARE_DIFFERENT_KEYS):
            for sign in ("", "|", ":", ",", "/", "\0", "\n", " ", '"', "\\", '","', "\x1f", "&", "="):
                one, two = f"a{sign}", f"{sign}b"
                keys = [
                    key(declared({"command": "b"}, name=f"{one}a")),
                    key(declared({"command": f"a{two}"}, name="a")),
                    key(declared({"command": f"a{sign}b"}, name=f"a{sign}a")),
                    key(declared({"command": "b"}, name="a"), principal=f"a{sign}ann"),
                    key(declared({"command": "b"}, name="a"), principal=None, kind=f"stdio{sign}ann"),
                    key(declared({"command": "c", "args": [f"a{sign}b"]})),
                    key(declared({"command": "c", "args": ["a", "b"]})),
                    key(declared({"command": "c", "args": f"a{sign}b"})),
                    key(declared({"command": "c", "env": {"a": f"1{sign}b=2"}})),
                    key(declared({"command": "c", "env": {"a": "1", "b": "2"}})),
                    key(declared({"command": "c", "env": {f"a{sign}b": "2"}})),
                ]
                assert _twice(keys) == {}, f"with {sign!r} between the parts"
            odd: tuple[Any, ...] = (
                1,
                "1",
                True,
                "True",
                None,
                "None",
                "null",
                [],
                {},
                "[]",
                "{}",
                [None],
                [[]],
                ["1"],
                [1],
            )
            assert _twice([key(declared({"command": "c", "args": each})) for each in odd]) == {}
            assert _twice([_key_or_refusal(key, each) for each in STRANGE]) == {}
        with check(ORDER_THAT_NOBODY_SEES_IS_NOT_KEYED):
            for base in (LOCAL, REMOTE):
                assert key(declared(_turned(base))) == key(_turned(declared(base))) == key(declared(base))
            turned = {**LOCAL, "args": ["b", "-a"]}
            assert key(declared(turned)) != key(declared()), "the order of arguments is seen by the dial"


@scenario(UNDECLARED_FINGERPRINT_CHANGES_NOTHING, STARTUP_BOUND_IS_KEYED, eras=HANDSHAKE)
async def fields_that_are_optional(server: ScriptedServer, connect: Connect) -> None:
    """A fingerprint and a startup bound: undeclared, and declared as various things."""
    async with connect(server) as wrapper:
        key = _key_of(wrapper)
        with check(UNDECLARED_FINGERPRINT_CHANGES_NOTHING):
            plain = key(declared())
            assert key(declared(fingerprint=None)) == plain
            prints = ("", "None", "null", "undefined", "0", "a", "b", "stdio", "ann")
            assert _twice([plain, *(key(declared(fingerprint=each)) for each in prints)]) == {}
        with check(STARTUP_BOUND_IS_KEYED):
            plain = key(declared())
            bounds = [key(declared(), startup=each) for each in (0, 0.5, 5, 50)]
            assert _twice([plain, *bounds]) == {}
            assert key(declared(), startup=5.0) == key(declared(), startup=5)
            numbers = [key(declared(fingerprint=each)) for each in (0.5, 5, "5", "5.0")]
            assert _twice([*bounds, *numbers]) == {}, "a bound and a fingerprint give one key"


@scenario(STARTUP_BOUND_IS_KEYED, KEY_COVERS_THE_PRINCIPAL, eras=HANDSHAKE)
async def mounts_of_one_server(server: ScriptedServer, connect: Connect) -> None:
    """While a dial is under way, mounts with another bound, and with another principal, lease as well."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        key = _key_of(wrapper)
        with server.holding("initialize") as gate:
            waiting = [legs.start(key(declared(), startup=1), principal="ann")]
            await gate.arrived()
            with check(STARTUP_BOUND_IS_KEYED):
                waiting.append(legs.start(key(declared(), startup=2), principal="ann"))
                await server.settle()
                assert legs.dials == 2, "waits for a dial with another bound"
            before = legs.dials
            with check(KEY_COVERS_THE_PRINCIPAL):
                waiting.append(legs.start(key(declared(), principal="bob", startup=1), principal="bob"))
                await server.settle()
                assert legs.dials == before + 1, "waits for the dial of another principal"
            gate.open()
            gate.release_all()
            leases = await asyncio.gather(*(each.result() for each in waiting))
        reached(legs.clients, "nothing was dialled")
        with check(KEY_COVERS_THE_PRINCIPAL):
            assert legs.connection(leases[-1]).principal == "bob"


@scenario(KIND_IS_READ_ONCE, MEMBERS_ARE_READ_ONCE, eras=HANDSHAKE)
async def declaration_that_changes_under_the_reader(server: ScriptedServer, connect: Connect) -> None:
    """Every member of a declaration answers differently each time it is read; the dial has read the kind."""
    async with connect(server) as wrapper:
        key = _key_of(wrapper)
        for base in (LOCAL, REMOTE):
            shifty = Shifty({"kind": "stdio", **base})
            found = key({"name": "server", "transport": shifty})
            with check(KIND_IS_READ_ONCE):
                assert shifty.reads["kind"] == 0, "the key reads the kind again"
                again = Shifty({"kind": "stdio", **base})
                assert found != key({"name": "server", "transport": again}, kind="http")
                assert key(declared({**base, "kind": "http"})) == key(declared(base))
            with check(MEMBERS_ARE_READ_ONCE):
                assert {name: shifty.reads[name] for name in base} == dict.fromkeys(base, 1)
                assert found == key(declared(base)), "the key is not made of what was read"
                whole = Shifty(declared(base, fingerprint="f"))
                assert key(whole) == key(declared(base, fingerprint="f"))
                assert set(whole.reads.values()) <= {1}


@scenario(SECRETS_ARE_NOT_READABLE_IN_THE_KEY, eras=HANDSHAKE)
async def declaration_with_secrets(server: ScriptedServer, connect: Connect) -> None:
    """A token stands in a header, in the environment, in an argument and in the address."""
    secret = "s3cr3t-t0k3n-0123456789"
    async with connect(server) as wrapper:
        key = _key_of(wrapper)
        with check(SECRETS_ARE_NOT_READABLE_IN_THE_KEY):
            for transport in (
                {**REMOTE, "headers": {"Authorization": f"Bearer {secret}"}},
                {**REMOTE, "url": f"https://user:{secret}@example.org/mcp"},
                {**LOCAL, "env": {"TOKEN": secret}},
                {**LOCAL, "args": ["--token", secret]},
            ):
                shown = f"{key(declared(transport))} {key(declared(transport))!r}"
                for form in (secret, secret[::-1], secret.encode().hex(), _base64(secret)):
                    assert form not in shown


class Shifty(Mapping[str, Any]):
    """A mapping whose members answer differently each time they are read, and which counts that."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.reads: Counter[str] = Counter()
        self._members = members

    def __getitem__(self, name: str) -> Any:
        value = self._members[name]
        self.reads[name] += 1
        return value if self.reads[name] == 1 else f"{value} as read the {self.reads[name]}. time"

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members


def _key_of(wrapper: Holder) -> Callable[..., Any]:
    """The verb `key_of`, with what most declarations have in common; keys that never agree show nothing."""
    key_of = wrapper.part("key_of")

    def key(
        declaration: Mapping[str, Any],
        principal: str | None = "ann",
        kind: str | None = "stdio",
        startup: float | None = None,
    ) -> Any:
        try:
            return key_of(declaration, principal, kind, startup)
        except Exception as raised:
            raise VerbFailed(f"key_of raised {describe(raised)}") from raised

    plain = key(declared())
    reached(plain is not None, "key_of gives a plain declaration no key")
    reached(key(declared()) == plain, "key_of gives one declaration a new key each time")
    return key


def _key_or_refusal(key: Callable[..., Any], env: Any) -> Any:
    """The key of a declaration with this environment, or an object where it is refused."""
    try:
        return key(declared({"command": "c", "env": env}))
    except VerbFailed:
        return object()


def _twice(keys: list[Any]) -> dict[Any, list[int]]:
    """The keys that are there more than once, with their places."""
    return {
        key: [place for place, each in enumerate(keys) if each == key]
        for key, times in Counter(keys).items()
        if times > 1
    }


def _turned(members: Mapping[str, Any]) -> dict[str, Any]:
    """The same maps in the opposite order."""
    return {
        name: _turned(value) if isinstance(value, Mapping) else value
        for name, value in reversed(list(members.items()))
    }


def _base64(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode().rstrip("=")
