"""One list of definitions: when it is served, when it stops, and what a late listing may write.

```text
            write: first                    write: the same list, after the limit
 (empty) ───────────────▶ (written) ◀─────┐
    │ invalidate             │  │ └───────┘
    ▼                        │  └── write: another list, after the limit: the generation moves
 generation moves,           │ invalidate: the generation moves at once
 still empty                 ▼
                          (stale) ── write: the moved generation is kept ──▶ (written)
```

A listing may write only while the generation is the one that it began at.

Source: the seed pool/definitions.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from mcp_conformance_reference.definitions import Definition
from mcp_conformance_reference.tasks import Shared

__all__ = ["Binding", "DefinitionList", "ListFlight", "OwnTool"]

_ids = count(1)


class OwnTool(Protocol):
    """A client's own wrapped tool; a list only keeps it, by its name."""

    @property
    def name(self) -> str:
        """The name, exactly as listed."""


@dataclass(frozen=True)
class Binding:
    """A definition as somebody was given it: good while its list is served at its generation.

    Attributes:
        definition: The frozen definition; what a call by this binding is judged by.
        list_id: The list it was taken from.
        generation: The generation of that list at the time.
    """

    definition: Definition
    list_id: int
    generation: int

    @property
    def name(self) -> str:
        """The tool's name, exactly as listed."""
        return self.definition.name


class ListFlight(Shared["DefinitionList | None"]):
    """One listing under way, in a task of its own, for everybody who needs the same list.

    Its outcome is the list that was written; None where the listing was discarded, and whoever still needs
    the list has it listed again.

    Args:
        work: Lists, and writes.
        began: The generation of the list when the listing began.
        lister: The client it lists on.

    Attributes:
        began: The generation of the list when the listing began.
        lister: The client it lists on.
    """

    def __init__(
        self, work: Callable[[ListFlight], Awaitable[DefinitionList | None]], began: int, lister: object
    ) -> None:
        super().__init__(lambda: work(self), f"mcp listing begun at generation {began}")
        self.began = began
        self.lister = lister


class DefinitionList:
    """One list: a client incarnation's own, or a shared entry. All moments and limits are in seconds.

    Attributes:
        id: A number that no other list of this process has or will have.
        generation: 0 until something moves it; it only ever increases.
        stale: Invalidated, and not written since.
        listed_at: When it was last written, on the clock of whoever wrote; minus infinity before that.
        listing: The listing that was begun last, under way or over; None before the first.
    """

    def __init__(self) -> None:
        self.id = next(_ids)
        self.generation = 0
        self.stale = False
        self.listed_at = -math.inf
        self.listing: ListFlight | None = None
        self._written = False
        self._definitions: dict[str, Definition] = {}
        self._tools: dict[str, OwnTool] = {}

    # -- serving -------------------------------------------------------------------------------------------

    @property
    def written(self) -> bool:
        """Whether any listing was written, however long ago."""
        return self._written

    def servable(self, now: float, ttl: float) -> bool:
        """Whether the list may be served as it stands. At the very end of the limit it has lapsed.

        Args:
            now: The moment, on the clock that `write` was given.
            ttl: The time limit, from the last write on; infinity for none.
        """
        return self._written and not self.stale and now - self.listed_at < ttl

    def all(self) -> tuple[Definition, ...]:
        """Every definition, in listing order."""
        return tuple(self._definitions.values())

    def definition(self, name: str) -> Definition | None:
        """The definition of one name at the current generation, None where there is none."""
        return self._definitions.get(name)

    def tool(self, name: str) -> OwnTool | None:
        """The client's own wrapped tool of one name; None where there is none, as in every shared list."""
        return self._tools.get(name)

    def bind(self, definition: Definition) -> Binding:
        """A definition of this list, bound to it at its current generation."""
        return Binding(definition, self.id, self.generation)

    def admits(self, binding: Binding) -> bool:
        """Whether a binding is of this list, and of its current generation."""
        return binding.list_id == self.id and binding.generation == self.generation

    # -- moving --------------------------------------------------------------------------------------------

    def invalidate(self) -> None:
        """Refuse every older binding at once, and have the list listed again before it is served.

        A listing that is under way is discarded, a first one too: it began at an older generation.
        """
        self.generation += 1
        self.stale = True

    def write(
        self, began: int, definitions: Iterable[Definition], tools: Iterable[OwnTool] | None, now: float
    ) -> bool:
        """Write a whole listing, unless the generation moved while it ran.

        The first write moves the generation to a number that no binding has seen; a write after an
        invalidation keeps the moved one; after a time limit it moves only if the list differs. Of two entries
        of one name the last counts.

        Args:
            began: The generation when the listing began.
            definitions: Every definition, in listing order.
            tools: The client's own wrapped tools, None for a list that is shared.
            now: The moment of writing.

        Returns:
            Whether it was written. If not, nothing has changed.
        """
        if began != self.generation:
            return False
        listed = {known.name: known for known in definitions}
        wrapped = {tool.name: tool for tool in tools or ()}
        if not self._written or (not self.stale and self.differs(listed)):
            self.generation += 1
        elif not self.stale:  # the same list, perhaps in another order: what was handed out stays what it is
            listed = {name: self._definitions[name] for name in listed}
            wrapped = {name: self._tools.get(name, tool) for name, tool in wrapped.items()}
        self._definitions, self._tools = listed, wrapped
        self._written, self.stale, self.listed_at = True, False, now
        return True

    def differs(self, listed: dict[str, Definition]) -> bool:
        """Whether a listing says anything else than the list: a binding names a tool and not a place."""
        before = {name: known.canonical for name, known in self._definitions.items()}
        return before != {name: known.canonical for name, known in listed.items()}

    # -- the listing under way -----------------------------------------------------------------------------

    def joinable(self) -> ListFlight | None:
        """The listing under way; None if there is none. It may be doomed: look at the list after it."""
        return None if self.listing is None or self.listing.settled else self.listing

    def begin(
        self, lister: object, work: Callable[[ListFlight], Awaitable[DefinitionList | None]]
    ) -> ListFlight:
        """Start a listing in a task that belongs to none of those who wait for it.

        Args:
            lister: The client it lists on.
            work: Lists, and writes by `flight.began`; see `ListFlight`.
        """
        self.listing = ListFlight(work, self.generation, lister)
        self.listing.start()
        return self.listing
