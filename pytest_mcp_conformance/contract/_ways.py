"""Over which ways in a wrapper can be played: what its adapter declares, else what it asks its dial for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Iterator

from ._adapter import Adapter
from ._claims import WAYS

__all__ = ["GIVES", "way_into", "ways_of"]

GIVES = {
    "streams": ("memory",),
    "session": ("memory",),
    "url": ("http", "loopback"),
    "command": ("stdio",),
    "settings": ("http", "loopback", "stdio"),
}
"""What a dial has that leads to a connection, and the ways in over which it is to be had."""


def ways_of(adapter: Adapter) -> tuple[str, ...]:
    """The ways in that `adapter` takes, in the order in which they are tried.

    What it does not declare is read in its source, which is not run: `dial.url` asks for HTTP. Where the
    source says nothing, because the dial is handed on, all are tried.
    """
    taken = adapter.claims.transports
    if taken is None:
        taken = tuple(way for asked in _asked_for(adapter) for way in GIVES.get(asked, ())) or WAYS
    return tuple(way for way in WAYS if way in taken)


def way_into(adapter: Adapter, open_to: Collection[str]) -> str:
    """The first way in that `adapter` takes and a scenario is open to; where there is none, its first."""
    taken = ways_of(adapter)
    return next((way for way in taken if way in open_to), taken[0])


def _asked_for(adapter: Adapter) -> Iterator[str]:
    """The attributes of its dial that the source of `adapter` names."""
    dial = next(iter(inspect.signature(adapter.play).parameters))
    try:
        source = ast.parse(textwrap.dedent(inspect.getsource(adapter.play)))
    except (OSError, SyntaxError):  # made by exec, or not readable by itself
        return
    for node in ast.walk(source):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == dial:
            yield node.attr
