"""Definition lists that conversations share: by context and tenant, bounded, the least recently used first.

```text
 entry_for ──▶ (in the table, most recently used) ── dropped: least recently used, or unfit ──▶ (gone)
                      ▲        │ invalidate                          its bindings are refused; the next
                      └────────┘ (its list is stale)                 entry_for makes another list
```

Sharing happens only where an application asks for it; without it each client lists for itself. Shared are
definitions alone: everybody calls through a connection of his own.

Source: the seed pool/definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.definitions import canonical, plain_copy

__all__ = ["MAX_DEFINITION_ENTRIES", "MAX_SHARED_TOOLS", "SharedDefinitions", "SharedEntry", "context_of"]

MAX_DEFINITION_ENTRIES = 64
"""How many entries are kept unless somebody says otherwise."""

MAX_SHARED_TOOLS = 256
"""How many tools a list may have and still be shared, unless somebody says otherwise."""


def context_of(fields: Mapping[str, Any]) -> str:
    """One text for the configuration that tools are listed under: other fields, another text.

    Args:
        fields: Plain JSON by name; their order means nothing.

    Raises:
        ValueError: A field is not plain JSON.
    """
    return canonical(plain_copy(dict(fields)))


@dataclass(frozen=True)
class SharedEntry:
    """A shared list, and the tenant that its context belongs to."""

    list: DefinitionList
    tenant: str


class SharedDefinitions:
    """The entries that conversations under one contract share.

    Args:
        max_entries: How many entries exist at most; at least 1.
        max_tools: How many tools a list has at most that is shared.

    Raises:
        ValueError: There is no room for a single entry.
    """

    list_type: type[DefinitionList] = DefinitionList
    """The lists of new entries."""

    def __init__(self, max_entries: int = MAX_DEFINITION_ENTRIES, max_tools: int = MAX_SHARED_TOOLS) -> None:
        if max_entries < 1:
            raise ValueError(f"max_entries is {max_entries}; an entry that is asked for needs room for one")
        self.max_entries = max_entries
        self.max_tools = max_tools
        self._entries: dict[object, SharedEntry] = {}

    @property
    def size(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def entry_for(self, context: str, tenant: str) -> SharedEntry:
        """The entry of a context, made empty where there is none; from now on the most recently used.

        Args:
            context: The configuration as one text; see `context_of`.
            tenant: Whose it is. Two tenants never share an entry, whatever the context.
        """
        key = self.key(context, tenant)
        entry = self._entries.pop(key, None) or SharedEntry(self.list_type(), tenant)
        self._entries[key] = entry
        while len(self._entries) > self.max_entries:
            del self._entries[self.victim()]
        return entry

    def peek(self, context: str, tenant: str) -> SharedEntry | None:
        """The entry of a context if there is one. It is not made, and not counted as used."""
        return self._entries.get(self.key(context, tenant))

    def invalidate(self, matches: Callable[[SharedEntry], bool]) -> None:
        """Invalidate the list of every entry that `matches` selects, and of no other."""
        for entry in list(self._entries.values()):
            if matches(entry):
                entry.list.invalidate()

    def forget(self, listed: DefinitionList) -> None:
        """Serve a list no more: its entry goes, and with it what its bindings name."""
        for key in [key for key, entry in self._entries.items() if entry.list is listed]:
            del self._entries[key]

    def fits(self, tools: int, whole: bool) -> bool:
        """Whether a listing may be shared.

        Args:
            tools: How many tools it has.
            whole: Whether it is all that the server listed, with no entry left out.
        """
        return whole and tools <= self.max_tools

    def key(self, context: str, tenant: str) -> object:
        """What an entry is found by. Nothing is joined, so no separator can be forged."""
        return (tenant, context)

    def victim(self) -> object:
        """The key of the entry that goes first: the least recently used one."""
        return next(iter(self._entries))
