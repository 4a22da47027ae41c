"""Marking and taking are inverses, for whatever a caller or an SDK puts beside the marker."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from mcp_conformance_reference.marker import (
    CALL_MARKER_KEY,
    GIVEN_META_MARKER_KEY,
    mark_params,
    take_marker,
)

scalars = some.none() | some.booleans() | some.integers() | some.text()
values = some.recursive(
    scalars, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3)
)
objects = some.dictionaries(some.text().filter(lambda key: key != "_meta"), values, max_size=4)
metas = some.dictionaries(some.text(), values, max_size=4)


@some.composite
def params(draw):
    """Params of a request, with a `_meta` anywhere in it or without any."""
    entries = list(draw(objects).items())
    if draw(some.booleans()):
        entries.insert(draw(some.integers(0, len(entries))), ("_meta", draw(metas)))
    return dict(entries)


@given(params(), some.text())
def test_taking_undoes_marking_to_the_byte(given_params, marker):
    before = json.dumps(given_params)
    message = {"id": 1, "method": "tools/call", "params": mark_params(given_params, marker)}
    marked = json.dumps(message)
    taken = take_marker(message)
    assert taken.marker == marker
    assert json.dumps(taken.message) == json.dumps({**message, "params": given_params})
    assert json.dumps(given_params) == before
    assert json.dumps(message) == marked


@given(params(), some.text(), metas)
def test_what_the_sdk_adds_stays_in_its_place(given_params, marker, stamps):
    marked = mark_params(given_params, marker)
    marked["_meta"].update(stamps)
    left = take_marker({"params": marked}).message["params"]
    expected = {key: value for key, value in marked["_meta"].items() if "/call-ref" not in key}
    assert list(left.get("_meta", {}).items()) == list(expected.items())
    assert {key: left[key] for key in left if key != "_meta"} == {
        key: given_params[key] for key in given_params if key != "_meta"
    }


@given(values | some.fixed_dictionaries({"params": values}) | some.fixed_dictionaries({"params": params()}))
def test_what_was_never_marked_passes_as_the_same_object(message):
    taken = take_marker(message)
    assert taken.marker is None
    assert taken.message is message


@pytest.mark.parametrize("meta", [[], "text", 3, True])
def test_a_meta_that_is_no_object_is_refused_when_it_is_marked(meta):
    with pytest.raises(ValueError, match="not an object"):
        mark_params({"_meta": meta}, "m1")


@pytest.mark.parametrize("key", [CALL_MARKER_KEY, GIVEN_META_MARKER_KEY])
def test_a_reserved_key_is_refused_by_its_name(key):
    with pytest.raises(ValueError, match=key):
        mark_params({"_meta": {key: "mine"}}, "m1")


def test_a_meta_of_none_is_none():
    marked = mark_params({"_meta": None, "name": "a"}, "m1")
    assert take_marker({"params": marked}).message == {"params": {"name": "a"}}
