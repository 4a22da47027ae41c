"""What an adapter says of its wrapper: promises unlock rules, excuses soften one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ._errors import AdapterError
from ._given import must_be_known

__all__ = ["CLAIMS", "ERAS", "EXCUSES", "IN_SECONDS", "WAYS", "Claims"]

ERAS = ("handshake", "modern")
WAYS = ("memory", "http", "stdio", "loopback", "sse")


@dataclass(frozen=True, kw_only=True)
class Claims:
    """One frozen statement of what a wrapper does. `None` and `False` are silence; 0 and 0.0 are promises.

    Promises (each unlocks the rules that need it):

    Attributes:
        caches_listings: A list may be answered without a frame.
        reacts_to_list_changed: After a notice the list is new within this many seconds.
        polls: Lists by a timer, this many seconds apart.
        snapshot_lists: A list is of one moment, over all its pages.
        single_flight: Equal lists at one moment share one fetch.
        follows_pages: `list_tools` returns all pages. Denied only together with the verb `list_page`.
        lifetimes: A kept list lapses with the `ttlMs` that its server gave it. Denied where the documentation
            says until when it is kept instead.
        checks_output: What happens to structured content that breaks its schema: it is refused, handed out
            with a flag (`flags`), or not looked at (`none`).
        redials: A dead connection is replaced without the user.
        isolates_principals: One object or process may serve several principals.
        pools_connections: Equal declarations share a connection.
        own_timeout: Every verb ends within this many seconds.
        limits_verbs: That limit is one of a whole verb. Denied where the documentation says that it is one of
            each request.
        call_meta: A caller can add `_meta` to a call.
        progress: A caller can get a call's progress.
        binds_tools: Tools are handed out as objects that can be called.
        refuses_stale_bindings: A tool of an older list is refused before anything is sent.
        answers_input: Drives input-required rounds.
        callbacks: Has handlers for log messages, elicitation or sampling.
        multi_server: One object holds several servers.
        proxies: Serves MCP in front and calls MCP behind.
        http_client: A caller can give it an HTTP client of its own.
        clock: Its time is `dial.clock`, or the timers of the running event loop.
        eras: The eras it speaks, of `handshake` and `modern`; `None` has each tried.
        transports: The ways in it takes, of `memory`, `http`, `stdio`, `loopback` and `sse`; `None` has them
            read in the adapter's source, which says nothing of `sse`.

    Excuses (each softens one rule, and is tried as well):

        lazy_connect: Set-up sends nothing; the first verb dials.
        dials_per_operation: Each verb has a connection of its own.
        resends_calls: The causes for which a call may be sent twice.
        same_task_close: Close works only in the task that opened.
        one_shot: An object is not used again after close or a failed dial.

    Raises:
        AdapterError: A value that is not of the claim's kind.
    """

    caches_listings: bool = False
    reacts_to_list_changed: float | None = None
    polls: float | None = None
    snapshot_lists: bool = False
    single_flight: bool = False
    follows_pages: bool = True
    lifetimes: bool = True
    checks_output: Literal["refuses", "flags", "none"] = "refuses"
    redials: bool = False
    isolates_principals: bool = False
    pools_connections: bool = False
    own_timeout: float | None = None
    limits_verbs: bool = True
    call_meta: bool = False
    progress: bool = False
    binds_tools: bool = False
    refuses_stale_bindings: bool = False
    answers_input: bool = False
    callbacks: bool = False
    multi_server: bool = False
    proxies: bool = False
    http_client: bool = False
    clock: bool = False
    eras: tuple[str, ...] | None = None
    transports: tuple[str, ...] | None = None
    lazy_connect: bool = False
    dials_per_operation: bool = False
    resends_calls: tuple[str, ...] = ()
    same_task_close: bool = False
    one_shot: bool = False

    def __new__(cls, *unnamed: Any, **given: Any) -> Claims:
        """Tell a misspelt claim."""
        __tracebackhide__ = True
        must_be_known("Claims", "claim", len(unnamed), given, [field.name for field in fields(cls)])
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name in sorted(IN_SECONDS):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or value < 0
            ):
                raise AdapterError(
                    f"Claims({name}={value!r}): give seconds as a number of 0 or more, or leave it out"
                )
        if self.checks_output not in ("refuses", "flags", "none"):
            raise AdapterError(
                f"Claims(checks_output={self.checks_output!r}): write 'refuses', 'flags' or 'none'"
            )
        for name, known in (("eras", ERAS), ("transports", WAYS)):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, str) or not value or not set(value) <= set(known):
                raise AdapterError(
                    f"Claims({name}={value!r}): write a tuple of {', '.join(known)}, or leave it out"
                )
            object.__setattr__(self, name, tuple(value))
        if isinstance(self.resends_calls, str):
            raise AdapterError(f"Claims(resends_calls={self.resends_calls!r}): write a tuple of causes")
        object.__setattr__(self, "resends_calls", tuple(self.resends_calls))

    def makes(self, name: str) -> bool:
        """True when the claim `name` is made: 0 and 0.0 are, `None`, `False`, `()` and `"none"` are not."""
        value = getattr(self, name)
        return not (value is None or value is False or value == () or value == "none")

    def stated(self) -> dict[str, Any]:
        """The claims that are made, as a report prints them."""
        return {name: getattr(self, name) for name in CLAIMS if self.makes(name)}


EXCUSES = frozenset({"lazy_connect", "dials_per_operation", "resends_calls", "same_task_close", "one_shot"})
"""The claims that soften a rule; all others are promises."""

IN_SECONDS = frozenset({"reacts_to_list_changed", "polls", "own_timeout"})
"""The claims that are a number of seconds."""

CLAIMS = tuple(field.name for field in fields(Claims))
"""The names of all claims."""
