"""Which connection a request over HTTP belongs to.

In the handshake era that is its session. Where there is none it is what the proxy can tell apart: requests
that bear the same credentials and come the same way. A handshake begins another one, and so does a request
with an id that was used before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mcp_conformance.history import Digests
from pytest_mcp_conformance.recording.frames import Frames, remember
from pytest_mcp_conformance.recording.record import Record

__all__ = ["SESSION", "Connections"]

SESSION = "mcp-session-id"

_CREDENTIALS = ("authorization", "x-api-key", "api-key", "x-auth-token")
_HANDSHAKES = frozenset({"initialize", "server/discover"})

Frame = Mapping[str, Any]


class Connections:
    """The connections of one recording.

    Args:
        record: Where their events are written.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._digest = Digests()
        self._principals: dict[str, str] = {}
        self._by_session: dict[str, Frames] = {}
        self._by_peer: dict[Any, Frames] = {}
        self._newest: dict[Any, Frames] = {}
        self._greeted: set[int] = set()

    def principal_of(self, headers: Mapping[str, str]) -> str | None:
        """An ordinal for the credentials of a request; `None` where it bears none."""
        borne = [headers.get(name) for name in _CREDENTIALS]
        if not any(borne):
            return None
        return self._principals.setdefault(self._digest(borne), f"credentials {len(self._principals) + 1}")

    def of(self, headers: Mapping[str, str], peer: Any, said: Sequence[Frame]) -> Frames:
        """The connection of a request.

        Args:
            headers: What it bears.
            peer: The address that it comes from.
            said: Its frames.
        """
        principal = self.principal_of(headers)
        session = headers.get(SESSION)
        if session is None:
            return self._without_a_session(headers, peer, principal, said)
        if session not in self._by_session:  # begun before the recording
            self._by_session[session] = Frames(self._record, principal, headers)
        return self._by_session[session]

    def name(self, connection: Frames, session: str) -> None:
        """Learn from its first answer the session that a connection is: it says so itself from here on."""
        self._by_session.setdefault(session, connection)
        for known in (self._by_peer, self._newest):
            for key in [key for key, each in known.items() if each is connection]:
                del known[key]

    def close(self) -> None:
        """The recording ends: whatever is open is not known to be closed by anybody."""
        for connection in {*self._by_session.values(), *self._by_peer.values(), *self._newest.values()}:
            connection.close("")

    def _without_a_session(
        self, headers: Mapping[str, str], peer: Any, principal: str | None, said: Sequence[Frame]
    ) -> Frames:
        asked = [frame for frame in said if frame.get("method") and "id" in frame]
        greets = any(frame["method"] in _HANDSHAKES for frame in asked)
        known = self._by_peer.get((peer, principal)) or self._newest.get(principal)
        if (
            known is None
            or not known.open
            or (greets and known.number in self._greeted)
            or any(known.has_used(frame["id"]) for frame in asked)
        ):
            known = self._newest[principal] = Frames(self._record, principal, headers)
        remember(self._by_peer, (peer, principal), known)
        if greets:
            self._greeted.add(known.number)
        return known
