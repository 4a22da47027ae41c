"""What an adapter is given: every way in to the scripted server, started when it is touched."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

__all__ = ["Clock", "Dial"]


class Clock(Protocol):
    """The scenario's clock, in seconds."""

    def time(self) -> float:
        """Seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...


class Dial(Protocol):
    """One attempt to open a connection: the address and the credentials used."""

    @property
    def url(self) -> str:
        """A streamable HTTP address; over `sse` that of the transport before it."""
        ...

    @property
    def command(self) -> Sequence[str]:
        """The argv of a stdio server."""
        ...

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """The SDK's (read, write) pair over memory; may be entered again and again."""
        ...

    def session(self, double: Any = None) -> AbstractAsyncContextManager[Any]:
        """An entered and initialised SDK `ClientSession` over memory.

        Where a scenario is about an SDK that forgets its checks or lists unseen, this gives such a one;
        `double` asks for one in a suite of one's own.
        """
        ...

    @property
    def headers(self) -> dict[str, str]:
        """The principal's headers, `{}` where there is none; for its wrapper to have, as they are.

        An adapter that opens connections for its wrapper, one after the other, asks for them each time.
        """
        ...

    @property
    def http_client(self) -> Any:
        """An HTTP client that its caller has made, as the SDK makes one, and closes; bears the headers.

        `None` but where a scenario is about it: then the wrapper makes one of its own.
        """
        ...

    def settings(self, **more: Any) -> dict[str, Any]:
        """The settings of one server in one object; for its wrapper to have, as it is.

        They are `command` and `args` over stdio, else `url` and `headers`, which is how most packages call
        them. What else a wrapper finds in them, as a `transport`, is `more`.
        """
        ...

    @property
    def principal(self) -> str | None:
        """The principal's name."""
        ...

    @property
    def clock(self) -> Clock:
        """The scenario's clock, for wrappers that accept one."""
        ...

    @property
    def transport(self) -> str:
        """The way in of this run: `memory`, `http`, `stdio`, `loopback` or `sse`."""
        ...

    @property
    def era(self) -> str:
        """The era that this server speaks, `handshake` or `modern`, for wrappers that must be told.

        `auto` where a scenario is about wrappers that find out by themselves; who must be told may refuse it.
        """
        ...
