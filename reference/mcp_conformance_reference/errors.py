"""What the client raises, as one tree.

```text
ClientError
├── ConnectionLost     the connection ended under the verb, or was found unusable
│   └── ClientClosed   the application closed the client
├── DialFailed         no connection could be opened
│   └── EraUnavailable the installed SDK, or the server, does not speak the era asked for
├── VerbTimeout        the whole verb took longer than the limit (also a TimeoutError)
├── RequestFailed      the server answered with a JSON-RPC error, or with something unreadable
│   ├── ListFailed     … to a page of `tools/list`
│   │   └── WalkUnbounded  the pages have no end
│   └── CallFailed     … to `tools/call`
├── CheckFailed        the tool answered, and its answer breaks its own output schema
├── SchemaUnusable     the tool's output schema cannot judge anything; nothing was sent
└── StaleTool          the tool is not what the newest listing says; nothing was sent
```

Each message ends with what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp_conformance_reference.results import CallResult

__all__ = [
    "CallFailed",
    "CheckFailed",
    "ClientClosed",
    "ClientError",
    "ConnectionLost",
    "DialFailed",
    "EraUnavailable",
    "ListFailed",
    "RequestFailed",
    "SchemaUnusable",
    "StaleTool",
    "VerbTimeout",
    "WalkUnbounded",
]


Failed = TypeVar("Failed", bound="RequestFailed")


class ClientError(Exception):
    """The root: everything that a verb raises by itself is one of these."""


class ConnectionLost(ClientError):
    """The connection is closed. The verb may be tried again and will dial; a call may have been executed."""


class ClientClosed(ConnectionLost):
    """The application closed the client, before the verb or under it."""


class DialFailed(ClientError):
    """No connection could be opened. The cause is in the text and in `__cause__`; the next verb dials."""


class EraUnavailable(DialFailed):
    """The era that was asked for is not spoken here."""


class VerbTimeout(ClientError, TimeoutError):
    """A verb took longer than the limit that was set for it.

    Attributes:
        verb: The verb's name.
        seconds: The limit, in seconds.
    """

    def __init__(self, server: str, verb: str, seconds: float) -> None:
        super().__init__(
            f"{server}: {verb} took longer than its limit of {seconds:g} s; "
            "raise timeout=, or look at what the server is waiting for"
        )
        self.verb = verb
        self.seconds = seconds


class RequestFailed(ClientError):
    """A request that was answered, and not with a result that can be used.

    Attributes:
        code: The JSON-RPC error code; None where the answer was a result that could not be read.
        message: The server's own text, or what was wrong with the answer.
        data: The error's `data`, None where there is none.
    """

    def __init__(self, what: str, message: str, *, code: int | None = None, data: Any = None) -> None:
        said = message if code is None else f"{message} (JSON-RPC error {code})"
        super().__init__(f"{what} failed: {said}; ask the server's owner, nothing was tried again")
        self.code = code
        self.message = message
        self.data = data

    @classmethod
    def of(cls: type[Failed], what: str, error: RequestFailed) -> Failed:
        """The failure of what a request was for."""
        return cls(what, error.message, code=error.code, data=error.data)


class ListFailed(RequestFailed):
    """A page of the listing failed, and with it the listing. What was known before still is."""


class WalkUnbounded(ListFailed):
    """The server's pages go round in circles, or on beyond the limit."""


class CallFailed(RequestFailed):
    """The call was answered with an error, or with a result that is not one."""


class CheckFailed(ClientError):
    """A tool ran and answered, but its answer breaks the output schema it was listed with.

    The call is not sent again: the work is done.

    Attributes:
        result: The whole result as it came, so that nothing the tool said is lost.
        reason: What is wrong with it.
    """

    def __init__(self, tool: str, reason: str, result: CallResult) -> None:
        super().__init__(
            f"{tool}: the result breaks the tool's output schema: {reason}; "
            "the tool has run: read .result before deciding anything"
        )
        self.result = result
        self.reason = reason


class SchemaUnusable(ClientError):
    """The output schema of one tool cannot be used to judge its answers. Nothing was sent."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"{tool}: outputSchema cannot be used: {reason}; nothing was sent, other tools work")
        self.reason = reason


class StaleTool(ClientError):
    """A tool that the newest listing lacks, or shows otherwise. Nothing was sent."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"{tool}: {reason}; nothing was sent: list again and take the tool from there")
        self.reason = reason
