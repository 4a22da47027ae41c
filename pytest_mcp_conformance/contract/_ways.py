"""Over which ways in a wrapper can be played: what its adapter declares, else what it asks its dial for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Iterator

from ._adapter import Adapter
from ._claims import ERAS, WAYS

__all__ = ["GIVES", "eras_over", "way_into", "ways_of"]

GIVES = {
    "streams": ("memory",),
    "session": ("memory",),
    "url": ("http", "loopback"),
    "command": ("stdio",),
    "settings": ("http", "loopback", "stdio"),
}
"""What a dial has that leads to a connection, and the ways in over which it is to be had.

What is to be had over `http` is so over `sse` as well, the transport before it. Nobody is taken to speak that
who does not declare it.
"""


def eras_over(way: str) -> tuple[str, ...]:
    """The eras that are played over a way in: the modern one has no `sse`."""
    return ERAS[:1] if way == "sse" else ERAS


def ways_of(adapter: Adapter) -> tuple[str, ...]:
    """The ways in that `adapter` takes, in the order in which they are tried.

    What it does not declare is read in its source, which is not run: `dial.url` asks for HTTP. Where the
    source says nothing, because the dial is handed on, all but `sse` are tried.
    """
    taken = adapter.claims.transports
    if taken is None:
        taken = tuple(way for asked in _asked_for(adapter) for way in GIVES.get(asked, ())) or WAYS[:-1]
    return tuple(way for way in WAYS if way in taken)


def way_into(adapter: Adapter, open_to: Collection[str], era: str) -> str:
    """The first way in that `adapter` takes and a scenario is open to in an era; where none is, its first."""
    taken = ways_of(adapter)
    return next((way for way in taken if way in open_to and era in eras_over(way)), taken[0])


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
