"""An adapter: the few lines that let the kit drive one wrapper."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any

from ._claims import Claims
from ._errors import AdapterError

__all__ = ["Adapter", "adapter"]


@dataclass(frozen=True)
class Adapter:
    """A named generator function with its claims.

    Attributes:
        name: How command line, node ids and reports call the wrapper.
        play: `async def (dial)` or `(dial, shared)`: set up, one `yield Wrapper(...)`, tear down. A plain
            generator function is run in a thread, so that it may block.
        version: The wrapper's own version.
        claims: What it promises.
        shared: Makes an async context manager for what several holders share; entered once a scenario.
    """

    name: str
    play: Callable[..., Any]
    version: str = ""
    claims: Claims = field(default_factory=Claims)
    shared: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        __tracebackhide__ = True  # a wrong adapter is the user's: pytest shows the user's lines, not these
        where = f"adapter {self.name!r}"
        if not isinstance(self.name, str) or not self.name or set(self.name) & set("[]:/ \t\n"):
            raise AdapterError(f"{where}: a name is a word without blanks, brackets, slashes and colons")
        if not isinstance(self.claims, Claims):
            raise AdapterError(f"{where}: claims={self.claims!r} is not a Claims(...)")
        if not (inspect.isasyncgenfunction(self.play) or self.blocks):
            raise AdapterError(
                f"{where} at {place_of(self.play)}: no generator; "
                "write 'async def' with one 'yield Wrapper(...)' between set-up and tear-down"
            )
        given = ("dial",) if self.shared is None else ("dial", "shared")
        taken = inspect.signature(self.play)
        try:
            taken.bind(*given)
        except TypeError:
            raise AdapterError(
                f"{where} at {place_of(self.play)}: takes {len(taken.parameters)} arguments, "
                f"is given ({', '.join(given)})"
            ) from None

    @property
    def blocks(self) -> bool:
        """Whether set-up and tear-down are plain functions, which nobody can cancel."""
        return inspect.isgeneratorfunction(self.play)


def adapter(
    name: str,
    *,
    version: str = "",
    claims: Claims | None = None,
    shared: Callable[[], Any] | None = None,
) -> Callable[[Callable[..., Any]], Adapter]:
    """Declare an adapter.

    Args:
        name: How command line, node ids and reports call the wrapper.
        version: The wrapper's own version, for the report; by default that of the installed package `name`,
            where there is one.
        claims: What the wrapper promises; silence unlocks nothing.
        shared: Makes an async context manager for the state that several holders share. Entered once a
            scenario; the adapter then takes `(dial, shared)`.

    Raises:
        AdapterError: What is decorated is no generator function of the right arguments.
    """
    if callable(name):
        raise AdapterError(f'@adapter at {place_of(name)}: has no name; write @adapter("a-name")')

    def declare(play: Callable[..., Any]) -> Adapter:
        __tracebackhide__ = True
        return Adapter(name, play, version or _installed(name), claims or Claims(), shared)

    return declare


def _installed(name: str) -> str:
    try:
        return version_of(name)
    except (PackageNotFoundError, ValueError):
        return ""


def place_of(thing: Any) -> str:
    """Where `thing` is defined, as `file:line`, or its repr."""
    code = getattr(thing, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(thing)
