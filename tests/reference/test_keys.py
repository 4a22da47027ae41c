"""Keys: equal for equal fields alone, whatever the values hold, and the same as they always were."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from mcp_conformance_reference import key_of, read_declaration

texts = some.text(alphabet=some.sampled_from('ab|:,/\0\n "\\\ud800[]{}'), max_size=4)
values = some.recursive(
    some.none() | some.booleans() | some.integers(-2, 2) | texts,
    lambda inside: some.lists(inside, max_size=3) | some.dictionaries(texts, inside, max_size=3),
    max_leaves=5,
)
declarations = some.fixed_dictionaries(
    {
        "name": texts,
        "transport": some.dictionaries(
            some.sampled_from(("command", "args", "env", "url")), values, max_size=3
        ),
    },
    optional={"fingerprint": some.none() | texts},
)
fields = some.tuples(
    declarations,
    some.none() | texts,
    some.none() | texts,
    some.none() | some.sampled_from((0.0, 0.5, 1.0, 10.0)),
)


def told_apart(value: Any) -> Any:
    """Something that is equal only for equal plain data: Python takes True for 1."""
    if isinstance(value, dict):
        return frozenset((name, told_apart(part)) for name, part in value.items())
    if isinstance(value, list):
        return tuple(told_apart(part) for part in value)
    return type(value).__name__, value


def meaning(declaration: dict[str, Any], *rest: Any) -> Any:
    fingerprint = declaration.get("fingerprint")
    return told_apart(declaration["name"]), told_apart(declaration["transport"]), fingerprint, rest


@settings(max_examples=500, deadline=None)
@given(fields, fields)
def test_keys_are_equal_for_equal_fields_alone(one: Any, other: Any) -> None:
    assert (key_of(*one) == key_of(*other)) == (meaning(*one) == meaning(*other))


@given(fields, some.randoms())
def test_the_order_of_maps_makes_no_difference(some_fields: Any, random: Any) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            names = list(value)
            random.shuffle(names)
            return {name: turned(value[name]) for name in names}
        return [turned(part) for part in value] if isinstance(value, list) else value

    assert key_of(turned(some_fields[0]), *some_fields[1:]) == key_of(*some_fields)


@given(texts, texts, texts)
def test_a_boundary_between_two_fields_may_stand_anywhere(one: str, two: str, three: str) -> None:
    def key(name: str, principal: str) -> str | None:
        return key_of({"name": name, "transport": {}}, principal, None, None)

    assert (key(one + two, three) == key(one, two + three)) == (not two)


def golden(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_what_is_not_declared_leaves_the_key_as_it_always_was() -> None:
    declaration = {"name": "s", "transport": {"kind": "stdio", "command": "c", "args": ["ä"]}}
    plain = '["s","stdio",{"args":["ä"],"command":"c"},"ann"]'
    assert key_of(declaration, "ann", "stdio", None) == golden(plain)
    assert key_of({**declaration, "fingerprint": None}, "ann", "stdio", None) == golden(plain)
    printed = f'{plain[:-1]},{{"fingerprint":"f"}}]'
    assert key_of({**declaration, "fingerprint": "f"}, "ann", "stdio", None) == golden(printed)
    bound = f'{plain[:-1]},{{"startup":30.0}}]'
    assert key_of(declaration, "ann", "stdio", 30) == golden(bound)
    assert key_of({"transport": None}, None, None, None) == golden("[null,null,{},null]")


def test_one_reading_serves_key_and_dial() -> None:
    env = {"A": "1"}
    declaration = {"name": "s", "transport": {"kind": "stdio", "command": Path("/bin/c"), "env": env}}
    read = read_declaration(declaration)
    before = key_of(read, None, "stdio", None)
    env["A"] = "2"
    assert read.transport == {"command": "/bin/c", "env": {"A": "1"}}
    assert key_of(read, None, "stdio", None) == before
    assert key_of(declaration, None, "stdio", None) != before


@pytest.mark.parametrize(
    ("member", "named"),
    [
        ({"args": [b"x"]}, r"transport\.args\[0\] is bytes"),
        ({"env": {1: "x"}}, r"transport\.env is dict"),
        ({"cwd": SimpleNamespace()}, r"transport\.cwd is SimpleNamespace"),
        ({"headers": {"a": {1, 2}}}, r"transport\.headers\.a is set"),
    ],
)
def test_a_member_that_is_no_plain_data_is_named(member: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        key_of({"name": "s", "transport": member}, None, None, None)
