"""A tool as it is handed out: bound to the definition it was listed with."""

from __future__ import annotations

from typing import Any, Protocol

from mcp_conformance_reference.definitionlist import Binding
from mcp_conformance_reference.definitions import Definition
from mcp_conformance_reference.results import CallResult

__all__ = ["ListedTool"]


class Calls(Protocol):
    """Whoever hands tools out and calls them."""

    async def call_tool(self, tool: ListedTool | str, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call one tool."""


class ListedTool:
    """One tool of one listing. Everything it shows is a fresh copy: editing it changes nothing else.

    Args:
        binding: The definition it was minted from, and the list that it was taken from.
        owner: The client that handed it out, and calls it.
    """

    def __init__(self, binding: Binding, owner: Calls) -> None:
        self._binding = binding
        self._owner = owner

    def __repr__(self) -> str:
        return f"<ListedTool {self.name!r} of list {self.list_id}, generation {self.generation}>"

    async def __call__(self, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call the tool; see `ReferenceClient.call_tool`."""
        return await self._owner.call_tool(self, arguments)

    def handed_out_by(self, owner: object) -> bool:
        """Whether a client handed this out."""
        return self._owner is owner

    @property
    def definition(self) -> Definition:
        """The frozen definition."""
        return self._binding.definition

    @property
    def list_id(self) -> int:
        """The tool list it belongs to."""
        return self._binding.list_id

    @property
    def generation(self) -> int:
        """The generation of that list when it was handed out."""
        return self._binding.generation

    @property
    def name(self) -> str:
        """The name, exactly as listed."""
        return self._binding.name

    @property
    def listed(self) -> dict[str, Any]:
        """The whole entry as listed."""
        return self.definition.listed

    @property
    def title(self) -> Any:
        """The title, None where there is none."""
        return self.listed.get("title")

    @property
    def description(self) -> Any:
        """The description, None where there is none."""
        return self.listed.get("description")

    @property
    def input_schema(self) -> Any:
        """The input schema."""
        return self.listed.get("inputSchema")

    @property
    def output_schema(self) -> Any:
        """The output schema, None where there is none."""
        return self.listed.get("outputSchema")

    @property
    def annotations(self) -> Any:
        """The annotations, None where there are none."""
        return self.listed.get("annotations")

    @property
    def meta(self) -> Any:
        """The entry's `_meta`, None where there is none."""
        return self.listed.get("_meta")
