"""One walk that several may wait for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.tasks import Shared
from mcp_conformance_reference.walk import Listing

__all__ = ["Flight"]


class Flight(Shared["DefinitionList | None"]):
    """One walk in a task of the client's own; whoever needs the same listing waits for it.

    Args:
        work: Does the walk.
        number: Its place in the order of walks.

    Attributes:
        number: Its place in the order of walks.
        listing: What it brought, once that is kept; empty before that.
        connection: The connection it asks on, None until it is about to ask.
        began: The generation of the list by then; a walk that has not been overtaken goes along with a write.
        coverage: What stood for hearing of changes by then.
    """

    def __init__(self, work: Callable[[Flight], Awaitable[DefinitionList | None]], number: int) -> None:
        super().__init__(lambda: work(self), f"mcp walk {number}")
        self.number = number
        self.listing = Listing((), ())
        self.connection: Connection | None = None
        self.began = 0
        self.coverage: object | None = None

    def leaves(self, connection: Connection, generation: int) -> None:
        """It asks for its first page now: what changes from here on changes behind its back."""
        self.connection = connection
        self.began = generation
        self.coverage = connection.coverage()

    @property
    def asking(self) -> bool:
        """Whether its first request may have left."""
        return self.connection is not None

    def still_covered(self) -> bool:
        """Whether no gap in what is heard of changes has come since it left."""
        return self.connection is not None and self.connection.coverage() == self.coverage
