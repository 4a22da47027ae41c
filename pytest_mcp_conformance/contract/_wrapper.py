"""The verbs through which the kit drives a wrapper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from ._errors import AdapterError
from ._given import must_be_known

__all__ = ["VERBS", "Wrapper"]

Verb = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """What an adapter yields: the wrapper's verbs, `async` or plain functions, which run in threads.

    Attributes:
        list_tools: `() -> iterable` of tools, as a USER of the wrapper gets them, its cache included.
        call_tool: `(tool_or_name, arguments) -> anything`; gets the very object that `list_tools` gave.
        call_with: `(tool_or_name, arguments, meta, on_progress) -> anything`, a call that carries `meta`, a
            mapping, as its `_meta`; `on_progress` is `None`, or a plain function that takes the number of
            each step of its progress.
        call_with_headers: `(tool_or_name, arguments, headers) -> anything`, a call that is to carry these
            HTTP headers beside those of its connection, or in their place.
        call_within: `(tool_or_name, arguments, seconds) -> anything`, a call with a limit of its own at which
            it raises.
        refresh: `() -> None`, list again now, whatever the cache says.
        invalidate: `() -> None`, the application says that tools changed.
        permissions_changed: `() -> None`, the application says that this principal's rights changed.
        bind: `(name) -> handle`, a tool bound to today's generation.
        reconnect: `() -> None`, open the connection again.
        close: `() -> None`, what a user calls to end it; the adapter's own tear-down still follows.
        list_page: `(cursor) -> (tools, next_cursor)`, one page, for wrappers that leave pages to their user.
        set_principal: `(dial) -> None`, go on with `dial.headers` in place of the headers so far: a new
            credential of the same user, or the user `dial.principal` where that is another one.
        accessors: `() -> mapping of name to callable`, every other way to read the tools.
        refusal_payload: `(exception or result) -> str`, what a refused answer held.
        read_resource: `(uri) -> anything`.
        subscribe_resource: `(uri) -> None`.
        front: `() -> ` the ASGI app that a proxy serves in front, at `/mcp`, for any credential.
        received: `() -> iterable of str`, the log messages that this holder's handler got, oldest first.
        together: `(dials) -> ` an async context manager of a `Wrapper`: one object that holds all these
            servers. Called in the event loop.
        connected_servers: `() -> iterable` of the servers that such an object says it is connected to.
        run: `(calls) -> iterable`, one run of the framework's own agent that has this holder's tools and as
            many steps as it needs. A scripted model makes these calls, `(name, arguments)`, one a step, and
            then ends. Gives what the model was shown of each, in order; raises where the run ended before.

    White-box verbs hand out a part of the wrapper itself, of the shape that the areas LST to OPN describe.
    They are called in the event loop, and may be classes:

        generations: `() -> ` a count of list requests: `ask(send)`, `is_latest(generation)`.
        listings_of: `(connection) -> ` the count of that connection.
        definition_of: `(listed) -> ` a frozen definition with `listed` and `canonical`; `None` or a
            `ValueError` where there is none.
        definition_list: `() -> ` one new definition list.
        shared_definitions: `(max_entries, max_tools) -> ` the shared entries by context and tenant.
        conversation: `(dial, shared=, context=, tenant=, ttl=, approve=) -> ` an async context manager of a
            user who lists on a client and calls by bindings.
        mark_params: `(params, marker) -> params`.
        take_marker: `(message) -> ` an object with `marker` and `message`.
        request_ledger: `() -> ` a request ledger: `watch(read, write)` gives the pair that a session is built
            over, `watch_dispatcher(dispatcher)` does so for a dispatcher of mcp 2.x; `call(params)` is a
            context manager around one call, of an object with its `ref` and the marked `params` to send;
            `records()` are its records, oldest first: `call` (a `ref`, or `None` where a request is no
            call's), `method`, `request_id` (or `None`), `connection`, `attempt` (from 1), and `state`, which
            is `sent` until it is `answered`, `failed`, `delivery unknown`, `abandoned` or `lost`, and for a
            call without a request `not sent`, or `unmatched` where a record's `within` (which it may have:
            the `ref` of the call in whose context it was written) shows one that lost its marker.
        pool: `() -> ` a connection pool: `await acquire(key, dial, fresh=False)`, `detach(key)`, `close()`,
            `live`. A dial gives an async context manager of a client, whose `closed` is an event.
        key_of: `(declaration, principal, kind, startup) -> ` the key that a declaration leases under, `None`
            where it never does. A declaration maps `name`, `transport`, `fingerprint` and `elicitation`.

    Raises:
        AdapterError: A required verb is missing, or a verb cannot be called.
    """

    list_tools: Verb
    call_tool: Verb
    call_with: Verb | None = None
    call_with_headers: Verb | None = None
    call_within: Verb | None = None
    refresh: Verb | None = None
    invalidate: Verb | None = None
    permissions_changed: Verb | None = None
    bind: Verb | None = None
    reconnect: Verb | None = None
    close: Verb | None = None
    list_page: Verb | None = None
    set_principal: Verb | None = None
    accessors: Verb | None = None
    refusal_payload: Verb | None = None
    read_resource: Verb | None = None
    subscribe_resource: Verb | None = None
    front: Verb | None = None
    received: Verb | None = None
    together: Verb | None = None
    connected_servers: Verb | None = None
    run: Verb | None = None
    generations: Verb | None = None
    listings_of: Verb | None = None
    definition_of: Verb | None = None
    definition_list: Verb | None = None
    shared_definitions: Verb | None = None
    conversation: Verb | None = None
    mark_params: Verb | None = None
    take_marker: Verb | None = None
    request_ledger: Verb | None = None
    pool: Verb | None = None
    key_of: Verb | None = None

    def __new__(cls, *unnamed: Any, **given: Any) -> Wrapper:
        """Tell a misspelt verb, and one that is missing."""
        must_be_known("Wrapper", "verb", len(unnamed), given, [field.name for field in fields(cls)])
        for name in ("list_tools", "call_tool"):
            if name not in given:
                raise AdapterError(f"Wrapper(...): lacks {name}; give it the wrapper's own, {name}=...")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name in VERBS:
            verb = getattr(self, name)
            if verb is None and name not in ("list_tools", "call_tool"):
                continue
            if not callable(verb):
                raise AdapterError(f"Wrapper({name}={verb!r}): a verb is a function; pass the method itself")

    def has(self, name: str) -> bool:
        """True when the verb `name` was given."""
        return getattr(self, name) is not None


VERBS = tuple(field.name for field in fields(Wrapper))
"""The names of all verbs."""
