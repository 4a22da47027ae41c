"""One thing that happened, at the wire or at the wrapper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """One event. Frames carry their whole message; nothing else does.

    Attributes:
        n: Its number; events are numbered in the order in which they happened, from 1.
        at: Seconds on the scenario's clock.
        kind: At the wire `opened`, `closed`, `asked` (a request of the client), `told` (a notification of the
            client), `replied` (an answer of the client), `garbled` (a line that is no frame),
            `answered`, `failed`, `noticed`, `requested` (a request of the server), `astray` (a request to an
            address that no server has, or an attempt to reach another host); of the script `changed`,
            `barred` and `outlived`; at the wrapper what `history.entry` names.
        connection: The connection's number, from 1; 0 where there is none.
        principal: Whoever the connection's credentials stand for.
        id: The JSON-RPC id, as it was on the wire.
        method: The method; of an answer, the method that it answers.
        message: The frame, a copy.
        headers: The headers that came with it.
        text: For people. What happened at the wrapper without one is not told in a failure text.
        generation: How many times the script has changed its tools; `None` where there is no script.
        server: The name of the server, where a history has several.
        who: The number of the holder, from 1; 0 for what happened at the wire.
        op: The number of the verb that it is about, from 1: what begins and what ends have the same one.
        how: Of `closed` and `garbled`, by whom: `client` or `server`; `broken` where a transport broke, and
            empty where the recording ended first.
        data: What a verb was given and gave, as `scenarios/_notes.py` writes it: plain copies.
    """

    n: int
    at: float
    kind: str
    connection: int = 0
    principal: str | None = None
    id: Any = None
    method: str = ""
    message: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    text: str = ""
    generation: int | None = 0
    server: str = ""
    who: int = 0
    op: int = 0
    how: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def params(self) -> Mapping[str, Any]:
        """The frame's params, `{}` where there are none."""
        found = self.message.get("params")
        return found if isinstance(found, Mapping) else {}

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of a `tools/call`, `{}` where there are none."""
        found = self.params.get("arguments")
        return found if isinstance(found, Mapping) else {}
