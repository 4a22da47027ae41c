"""The history of a user's own test, in which the test says what its wrapper was asked and gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.contract._outcome import outcome_of
from pytest_mcp_conformance.contract._tool import tools_of
from pytest_mcp_conformance.history import LiveHistory
from pytest_mcp_conformance.server import ScriptedServer

if TYPE_CHECKING:
    from pytest_mcp_conformance.scenarios._notes import Notes

__all__ = ["Called", "OwnHistory", "Wanted"]


class Wanted:
    """A listing that a user asked for."""

    def __init__(self) -> None:
        self.handed_out: list[Any] = []

    def served(self, tools: Any) -> None:
        """The user was handed these: tools of any make, or names."""
        self.handed_out = [tools]


class Called:
    """A call that a user made."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def returned(self, result: Any) -> None:
        """The call returned this."""
        self.results = [result]


class OwnHistory(LiveHistory):
    """What happens at the wire of one server; what happens at the wrapper is there when the test says it.

    Args:
        server: The server of the test.
        about: As of a `LiveHistory`.
    """

    def __init__(self, server: ScriptedServer, **about: str) -> None:
        super().__init__(sees="wire", **about)
        self._server = server
        self._users: dict[str | None, Notes] = {}
        server.history.tell(self.take)

    @contextmanager
    def wanting(self, principal: str | None = None) -> Iterator[Wanted]:
        """A user asks the wrapper for the tools, from here to the end of the block.

        Raises:
            UsageError: The block ends, and nobody has said what was served.
        """
        wanted = Wanted()
        with self._user(principal).listing() as served:
            yield wanted
            if not wanted.handed_out:
                raise UsageError("mcp_history.wanting(): say wanted.served(tools) in the block")
            served += tools_of(wanted.handed_out[0])

    @contextmanager
    def calling(
        self, tool: str, arguments: Mapping[str, Any] | None = None, principal: str | None = None
    ) -> Iterator[Called]:
        """A user calls a tool of the wrapper's, from here to the end of the block; it may raise.

        Raises:
            UsageError: The block ends, and nobody has said what was returned.
        """
        called, error = Called(), None
        with self._user(principal).call(tool, "call_tool", arguments or {}) as outcomes:
            try:
                yield called
                if not called.results:
                    raise UsageError("mcp_history.calling(): say called.returned(result) in the block")
                outcomes.append(outcome_of(called.results[0]))
            except UsageError:
                raise
            except Exception as raised:
                error = raised
                outcomes.append(outcome_of(error=raised))
        if error is not None:
            raise error

    def _user(self, principal: str | None) -> Notes:
        """The notes of a user, one for each principal."""
        from pytest_mcp_conformance.scenarios._notes import Notes  # with all scenarios, which few tests need

        if principal not in self._users:
            self._users[principal] = Notes(self._server, principal)
            self.header = msgspec.structs.replace(self.header, sees="wire and wrapper")
        return self._users[principal]
