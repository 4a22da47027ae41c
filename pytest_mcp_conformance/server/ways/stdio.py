"""The way in over stdio: a relay is the child, and the script stays here."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from pytest_mcp_conformance.clock import parties
from pytest_mcp_conformance.server.faults import (
    CLOSES_STDOUT,
    ENDS,
    IGNORES_SIGTERM,
    KILLED,
    NOISE,
    Fault,
)
from pytest_mcp_conformance.server.ways import _relay
from pytest_mcp_conformance.server.ways._lines import frame_of, line_of
from pytest_mcp_conformance.server.ways._listener import Line, Listener

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.connection import Connection
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["Relay", "StdioWay"]

_GLANCE = 0.01  # real seconds for what takes a tenth of a millisecond on a machine with time to spare
_PATIENCE = 5.0  # real seconds for a process to answer, or to end when it has been told to

_LAST = {"exit": _relay.EXIT, "eof": _relay.CLOSE, "kill": _relay.DIE}
_LAST_OF = {ENDS.name: _relay.EXIT, CLOSES_STDOUT.name: _relay.CLOSE, KILLED.name: _relay.DIE}


class Relay:
    """One child, from the script's side.

    Attributes:
        connection: What it carries; None where the server refused it.
    """

    def __init__(self, way: StdioWay, line: Line) -> None:
        self.connection: Connection | None = None
        self._way = way
        self._line = line
        self._heard = bytearray()

    @property
    def pid(self) -> int:
        """Of the child."""
        return self._line.pid

    @property
    def alive(self) -> bool:
        """Whether the child still lives."""
        return not self._line.gone.is_set()

    def say(self, text: str) -> None:
        """Write a line to stdout that is no frame."""
        self._line.send(_relay.SAY, text.encode() + b"\n")

    def complain(self, text: str) -> None:
        """Write a line to stderr."""
        self._line.send(_relay.COMPLAIN, text.encode() + b"\n")

    def stay(self, *, deaf: bool = False) -> None:
        """Live on when the client closes stdin; where it is deaf, after SIGTERM too. In force on return."""
        self._line.send(_relay.STAY)
        if deaf:
            self._line.send(_relay.DEAF)
        self._way.wait_for_relays()

    def send(self, frame: dict[str, Any] | Fault | None, related: Any = None) -> None:
        """Write one frame to the client, or do as a fault says; None hangs up by `StdioWay.hangs_up_by`."""
        if frame is None:
            self._line.send(_LAST[self._way.hangs_up_by])
        elif isinstance(frame, Fault):
            self._suffer(frame)
        else:
            self._line.send(_relay.SAY, line_of(frame))

    def _suffer(self, fault: Fault) -> None:
        if fault.name in _LAST_OF:
            self._line.send(_LAST_OF[fault.name])
        elif fault.name == NOISE.name:
            self.say(fault.text)
        elif self.connection is None:  # it is just being opened: what is sent now is read before all else
            self._line.send(_relay.STAY)
            if fault.name == IGNORES_SIGTERM.name:
                self._line.send(_relay.DEAF)
        else:
            self.stay(deaf=fault.name == IGNORES_SIGTERM.name)

    def receive(self, said: bytes) -> None:
        """Take what the client has written: whole lines reach the script, the rest waits."""
        self._heard += said
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            self._receive_line(bytes(line))

    def _receive_line(self, line: bytes) -> None:
        if self.connection is None or not line.strip():
            return
        frame = frame_of(line)
        if frame is None:
            self.connection.receive_noise(line.decode(errors="replace"))
        else:
            self.connection.receive(frame)

    def gone(self, within: float) -> bool:
        """Wait for its end. False when `within` real seconds were not enough."""
        return self._line.gone.wait(within)


class StdioWay:
    """One principal's way in to one scripted server over stdio.

    Whoever runs the command gets a connection of its own, as often as it is run. Over stdio credentials
    travel in the environment, but SDK clients pass on a few variables only; so the token in the arguments
    stands for the principal, and there is nothing to be set.

    Args:
        server: The script to connect to.
        principal: Whose credentials the command stands for.

    Attributes:
        relays: Every child that has connected, in that order.
        hangs_up_by: How the children end when the server drops a connection, or refuses it: by `exit`, by
            `eof` (stdout is closed, and the child lives on), or by `kill`. What was said before is said.
    """

    def __init__(self, server: ScriptedServer, principal: str | None = None) -> None:
        self.relays: list[Relay] = []
        self.hangs_up_by: Literal["exit", "eof", "kill"] = "exit"
        self.addresses: Collection[tuple[str, int]] = ()
        self._server = server
        self._principal = principal
        self._by_line: dict[Line, Relay] = {}
        self._listener: Listener | None = None

    @property
    def command(self) -> Sequence[str]:
        """The argv of the child. The first touch needs the running loop in which the script is to play."""
        if self._listener is None:
            self._loop = asyncio.get_running_loop()
            self._listener = Listener(self, self._loop)
            parties(self._loop).add(self)
        place = os.path.abspath(_relay.__file__)
        return [sys.executable, "-I", "-S", place, str(self._listener.port), self._listener.token]

    def wait_for_relays(self) -> None:
        """Block until every relay that can has done what it was told."""
        if self._listener is not None:
            self._listener.all_quiet(_PATIENCE)

    def left(self) -> list[str]:
        """The children that are alive and not about to end, in words.

        Whoever was told to end before, by the client or by the script, has ended when this returns.
        """
        self.wait_for_relays()
        return [
            f"the process of connection {relay.connection.number} still runs"
            if relay.connection is not None
            else "the process of a connection that was refused still runs"
            for relay in self.relays
            if relay.alive
        ]

    async def aclose(self) -> None:
        """Kill the children that are left, and take no more."""
        if self._listener is None:
            return
        for relay in self.relays:
            if relay.alive:
                with suppress(OSError):
                    os.kill(relay.pid, _relay.KILL)
        for relay in self.relays:
            relay.gone(_PATIENCE)
        parties(self._loop).discard(self)
        self._listener.close()
        self._listener = None
        for relay in self.relays:
            if relay.connection is not None:
                relay.connection.closed_by_client()

    # -- what the loop asks, see `clock.Party` -------------------------------------------------------------

    @property
    def threads(self) -> Collection[threading.Thread]:
        """The listener's."""
        return () if self._listener is None else (self._listener.thread,)

    @property
    def children(self) -> Collection[int]:
        """The children that are neither gone nor about to go."""
        return () if self._listener is None else self._listener.steady

    def idle(self) -> bool:
        """Whether no line was under way between any client and the script, in either direction."""
        return self._listener is None or self._listener.all_quiet(_GLANCE)

    # -- what the listener tells ---------------------------------------------------------------------------

    def connected(self, line: Line) -> None:
        """A relay has shown the token."""
        relay = self._by_line[line] = Relay(self, line)
        self.relays.append(relay)
        try:
            relay.connection = self._server.open(relay.send, principal=self._principal, headers={})
        except ConnectionRefusedError:
            relay.send(None)

    def heard(self, line: Line, said: bytes) -> None:
        """Its client has written this."""
        self._by_line[line].receive(said)

    def ended(self, line: Line) -> None:
        """Its client has closed its stdin, or it is dead."""
        connection = self._by_line[line].connection
        if connection is not None:
            connection.closed_by_client()
