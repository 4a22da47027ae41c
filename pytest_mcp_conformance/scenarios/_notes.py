"""What one holder does and is given, written into the history."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pytest_mcp_conformance.contract import MISSING, AdapterError, Outcome, Tool
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.history import jsonlike
from pytest_mcp_conformance.server import ScriptedServer

__all__ = ["Notes"]

ENDS = {
    "invalidate": "invalidated",
    "permissions_changed": "invalidated",
    "refresh": "refreshed",
    "bind": "bound",
}
"""How the end of a verb is called, where a reader of the history has to know what it did."""


class Notes:
    """The notes of one holder. Texts are for failure texts; what has none is for the file alone.

    Args:
        server: The script at the other end, whose history is written.
        principal: Whose credentials the holder carries.
    """

    def __init__(self, server: ScriptedServer, principal: str | None) -> None:
        self._server = server
        self._principal = principal
        self._who = next(server.history.holders)
        self._inside = False

    def entered(self) -> None:
        """The holder was set up."""
        self._inside = True
        self._write("entered")

    def not_entered(self, error: BaseException | None) -> None:
        """Its set-up failed."""
        self._write("raised", verb="connect", error=type(error).__name__)

    def left(self) -> None:
        """It was torn down. A second time is nothing."""
        if self._inside:
            self._inside = False
            self._write("left")

    @contextmanager
    def verb(self, verb: str, *arguments: Any) -> Iterator[None]:
        """A verb other than a listing or a call, from its beginning to its end."""
        named = {"tool": arguments[0]} if verb == "bind" and arguments else {}
        with self._under_way("began", verb, **named) as op:
            yield
            self._write(ENDS.get(verb, "ended"), op, verb=verb, **named)

    @contextmanager
    def listing(self) -> Iterator[list[Tool]]:
        """A listing; what is handed out is put into the list that this gives."""
        served: list[Tool] = []
        with self._under_way("wanted", "list_tools", tells=True) as op:
            yield served
            self._write("served", op, f"{[tool.name for tool in served]}", tools=_definitions(served))

    @contextmanager
    def call(self, tool: str, verb: str, arguments: Any, shown: int = 0) -> Iterator[list[Outcome]]:
        """A call; its outcome is put into the list that this gives.

        Args:
            tool: The tool's name.
            verb: The verb that calls it.
            arguments: What it is called with.
            shown: The number of the event at which a list gave the tool; 0 where that is not known.
        """
        outcomes: list[Outcome] = []
        before = len(self._server.history)
        known: dict[str, Any] = {"shown": shown} if shown else {}
        with self._under_way("called", verb, tool=tool, arguments=jsonlike(arguments), **known) as op:
            yield outcomes
            (outcome,) = outcomes
            data = {"verb": verb, "tool": tool, "outcome": outcome.kind}
            if outcome.kind in ("ok", "tool_error"):
                data["content"] = jsonlike(outcome.text if outcome.value is MISSING else outcome.value)
            if outcome.error is not None:
                data["error"] = type(outcome.error).__name__
            reached = bool(self._server.ledger.calls(since=before))
            self._write("returned", op, f"{tool} {outcome}", reached=reached, **data)

    @contextmanager
    def _under_way(self, kind: str, verb: str, *, tells: bool = False, **data: Any) -> Iterator[int]:
        op = next(self._server.history.verbs)
        self._write(kind, op, verb=verb, rest=self._server.history.rest, **data)
        try:
            yield op
        except (asyncio.CancelledError, GeneratorExit):
            self._write("abandoned", op, verb=verb)
            raise
        except BaseException as raised:
            says = tells and isinstance(raised, Exception) and not isinstance(raised, AdapterError)
            text = f"{verb}: {describe(raised)}" if says else ""
            self._write("raised", op, text, verb=verb, error=type(raised).__name__)
            raise

    def _write(self, kind: str, op: int = 0, text: str = "", **data: Any) -> None:
        who = f"{self._principal}: " if self._principal is not None and text else ""
        self._server.history.record(
            kind,
            text=who + text,
            principal=self._principal,
            generation=self._server.generation,
            server=self._server.label,
            who=self._who,
            op=op,
            data=data,
        )


def _definitions(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """What was handed out, by the names of the protocol, in copies that nobody edits."""
    return [
        {
            "name": tool.name,
            "description": jsonlike(tool.description),
            "inputSchema": jsonlike(tool.input_schema),
            "outputSchema": jsonlike(tool.output_schema),
        }
        for tool in tools
    ]
