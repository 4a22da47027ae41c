"""What a wrapper hands out as a tool, read by the kit."""

from __future__ import annotations

import warnings

import pytest

from pytest_mcp_conformance.contract._tool import Tool, tool_of


class Renamed:
    """An object whose old names are deprecated."""

    name, description, output_schema = "a", None, None
    input_schema = {"type": "object"}  # noqa: RUF012

    def __getattr__(self, name):
        warnings.warn(f"{name} is deprecated", DeprecationWarning, stacklevel=2)
        return {}


@pytest.mark.filterwarnings("error")
def test_a_name_that_is_deprecated_is_not_touched_where_the_other_one_is_there():
    assert tool_of(Renamed()) == Tool("a", None, {"type": "object"}, None)


@pytest.mark.parametrize(
    "schemas",
    [
        {"inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
        {"input_schema": {"type": "object"}, "output_schema": {"type": "array"}},
    ],
)
@pytest.mark.parametrize("as_object", [True, False])
def test_both_spellings_are_read(schemas, as_object):
    told = {"name": "a", **schemas}
    read = tool_of(type("Own", (), told)() if as_object else told)
    assert (read.input_schema, read.output_schema) == ({"type": "object"}, {"type": "array"})
