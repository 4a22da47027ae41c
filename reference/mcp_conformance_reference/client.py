"""The client: the verbs that an application uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any, Protocol, get_args

import anyio

from mcp_conformance_reference.connection import OpenStreams
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.definitions import Definition, plain_copy
from mcp_conformance_reference.errors import ClientClosed, StaleTool, VerbTimeout
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.life import Life
from mcp_conformance_reference.parts import Parts
from mcp_conformance_reference.progress import OnProgress
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.rounds import Answers
from mcp_conformance_reference.sdk import Era
from mcp_conformance_reference.settings import LogMessage, Settings
from mcp_conformance_reference.walk import LeftOut

__all__ = ["Clock", "ReferenceClient"]


class Clock(Protocol):
    """What lifetimes of listings are counted by."""

    def monotonic(self) -> float:
        """Seconds since some moment."""


class ReferenceClient(Parts):
    """An MCP client for tools, over the SDK's sessions, that keeps every rule of this kit.

    One client holds one connection at a time. It is dialled by `connect`, or by the first verb that needs it,
    and again by the first verb that finds it dead. Verbs may be used from any task, any number at once; one
    that is cancelled leaves the others alone. Tool listings are kept:

    * in the handshake era until the server says that its tools changed, if it declared that it says so;
    * in the modern era for the lifetime that the server gives, while a listen stream stands for hearing of
      changes or the server has no such stream;

    and never beyond a notice, `invalidate`, `permissions_changed`, `refresh`, or the connection they came by.

    Args:
        open_streams: Opens one connection. Called for each dial, it gives an async context manager that gives
            the SDK's (read, write) stream pair; that is entered and left in one task.
        era: "handshake" (up to 2025-11-25), "modern" (2026-07-28, needs mcp 2.x), or "auto": ask the server.
        timeout: The limit of each verb in seconds, everything it needs included; None for none.
        clock: Counts the lifetimes of listings, by default the event loop's time, which all limits run by.
        name: What the server is called in errors.
        max_pages: How many pages a listing may have.
        max_walks: How many walks one verb may see overtaken by changes.
        max_reopen: How many times in a row a listen stream is opened again.
        reopen_limit: The longest wait between two of those tries, in seconds.
        close_limit: How long a connection may take to leave in good order, in seconds.
        on_log: Called with each log message of the server; must come back at once.
        on_input: Answers what a modern server asks before it finishes a call or a read: gets the question's
            key and the request that it is, gives the result. It runs within the verb's limit.
        max_rounds: How many rounds of questions a call may take.
        log_level: Which messages to ask for, in the modern era, where `on_log` is given.
        client_info: `name` and `version` to give of this client.
    """

    def __init__(
        self,
        open_streams: OpenStreams,
        *,
        era: Era = "handshake",
        timeout: float | None = 30.0,
        clock: Clock | None = None,
        name: str = Settings.name,
        max_pages: int = Settings.max_pages,
        max_walks: int = Settings.max_walks,
        max_reopen: int = Settings.max_reopen,
        reopen_limit: float = Settings.reopen_limit,
        close_limit: float = Settings.close_limit,
        on_log: Callable[[LogMessage], None] | None = None,
        on_input: Answers | None = None,
        max_rounds: int = Settings.max_rounds,
        log_level: str = Settings.log_level,
        client_info: dict[str, Any] | None = None,
    ) -> None:
        if era not in get_args(Era):
            raise ValueError(f"era is {era!r}; take one of {', '.join(get_args(Era))}")
        self._open_streams = open_streams
        self._settings = Settings(
            parts=self,
            era=era,
            name=name,
            timeout=timeout,
            now=anyio.current_time if clock is None else clock.monotonic,
            max_pages=max_pages,
            max_walks=max_walks,
            max_reopen=max_reopen,
            reopen_limit=reopen_limit,
            close_limit=close_limit,
            on_log=on_log,
            on_input=on_input,
            max_rounds=max_rounds,
            log_level=log_level,
        )
        if client_info is not None:
            self._settings = replace(self._settings, client_info=plain_copy(client_info))
        self._life: Life | None = None
        self._closed = False

    # -- connecting ----------------------------------------------------------------------------------------

    async def __aenter__(self) -> ReferenceClient:
        try:
            await self.connect()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()  # nobody else will: what was not entered is not left either
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def connected(self) -> bool:
        """Whether there is a live connection now."""
        connection = None if self._life is None or self._closed else self._life.dialler.connection
        return connection is not None and connection.alive

    async def connect(self) -> None:
        """Open the client; again after a close, as a new client. Without effect while it is connected.

        Raises:
            DialFailed: No connection could be opened; nothing is left open, and the next verb tries again.
            ClientClosed: The client was closed meanwhile.
            VerbTimeout: It took longer than the limit.
        """
        if self._closed:
            self._closed, self._life = False, None
        with self.verb("connect") as life:
            await life.dialler.connected()

    async def reconnect(self) -> None:
        """Open a connection in place of the one in use, which stays in use if that fails.

        Calls that are out on the old connection end with `ConnectionLost`.

        Raises:
            DialFailed, ClientClosed, VerbTimeout: As for `connect`.
        """
        with self.verb("reconnect") as life:
            await life.dialler.reconnect()

    async def close(self) -> None:
        """End every verb with `ClientClosed`, and leave everything that was opened.

        It may be called from any task, at any time, any number of times. Nothing is sent or dialled after it.
        """
        self._closed = True
        if self._life is not None:
            await self._life.close()

    # -- tools ---------------------------------------------------------------------------------------------

    async def list_tools(self) -> list[ListedTool]:
        """The tools, kept or asked for anew, in the server's order.

        Raises:
            ListFailed: A page failed, or the pages have no end.
            DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As everywhere.
        """
        with self.verb("list_tools") as life:
            return self.hand_out(await life.tools.current())

    async def call_tool(
        self,
        tool: ListedTool | str,
        arguments: dict[str, Any] | None = None,
        *,
        meta: dict[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        timeout: float | None = None,
    ) -> CallResult:
        """Call one tool, once.

        Args:
            tool: A tool as handed out, or a name.
            arguments: Plain JSON; copied at once.
            meta: The request's `_meta`, beside the protocol's own keys: plain JSON; copied at once.
            on_progress: Hears of the call's progress, in the order of the wire; must come back at once.
            timeout: The limit of this call in seconds, everything it needs included; None for the client's.

        Returns:
            The result, also where the tool says by `is_error` that it failed.

        Raises:
            StaleTool: The newest listing lacks the tool or shows it otherwise. Nothing was sent.
            SchemaUnusable: Its output schema cannot judge anything. Nothing was sent.
            CheckFailed: Its result breaks its output schema. The result is in the error.
            CallFailed: The server answered with an error.
            ListFailed: There was no listing to judge by, and none could be had. Nothing was sent.
            DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As everywhere.
            ValueError: The arguments or the `_meta` are not plain JSON.
        """
        with self.verb("call_tool", timeout) as life:
            if isinstance(tool, ListedTool) and not tool.handed_out_by(self):
                raise StaleTool(tool.name, "it was handed out by another client")
            return await life.caller.call(tool, arguments, meta, on_progress)

    async def bind(self, name: str) -> ListedTool:
        """The tool of this name, bound to today's definition.

        Raises:
            StaleTool: It is not listed.
            ListFailed, DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As for `list_tools`.
        """
        with self.verb("bind") as life:
            for tool in self.hand_out(await life.tools.current()):
                if tool.name == name:
                    return tool
            raise StaleTool(name, "the newest listing lacks it")

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Read one resource. It is asked for each time: nothing of it is kept, whatever lifetime it has.

        Returns:
            The result as it was on the wire.

        Raises:
            RequestFailed: The server answered with an error, or asks for what nobody can give.
            DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As everywhere.
        """
        with self.verb("read_resource") as life:
            return await life.reader.read(uri)

    async def refresh(self) -> None:
        """List again now, whatever is kept.

        Raises:
            ListFailed, DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As for `list_tools`.
        """
        with self.verb("refresh") as life:
            await life.tools.refresh()

    def invalidate(self) -> None:
        """The application says that the tools changed: nothing listed before now is served any more."""
        if self._life is not None:
            self._life.tools.invalidate()

    def permissions_changed(self) -> None:
        """The application says that what it may do changed: the same as `invalidate`."""
        self.invalidate()

    # -- other ways to read the tools ----------------------------------------------------------------------

    async def names(self) -> list[str]:
        """The names of the tools."""
        return [tool.name for tool in await self.list_tools()]

    async def definitions(self) -> list[Definition]:
        """The frozen definitions of the tools."""
        return [tool.definition for tool in await self.list_tools()]

    async def left_out(self) -> list[LeftOut]:
        """The entries of the listing that are no tools, each with a reason."""
        with self.verb("left_out") as life:
            await life.tools.current()
            return deepcopy(life.tools.left_out)

    def accessors(self) -> dict[str, Callable[[], Awaitable[list[Any]]]]:
        """Every other way to read the tools, by name. All of them read one and the same listing."""
        return {"names": self.names, "definitions": self.definitions}

    # -- inside --------------------------------------------------------------------------------------------

    def hand_out(self, listed: DefinitionList) -> list[ListedTool]:
        """The tools of a list, as users get them."""
        return [self.handle_type(listed.bind(known), self) for known in listed.all()]

    @contextmanager
    def verb(self, verb: str, timeout: float | None = None) -> Iterator[Life]:
        """Run one verb in the life of its beginning, all within its limit, by default the client's."""
        if self._closed:
            raise ClientClosed(f"{self._settings.name}: the client is closed; connect() opens it again")
        if self._life is None:
            self._life = self.life_type(self._open_streams, self._settings)
        limit = self._settings.timeout if timeout is None else timeout
        with anyio.move_on_after(limit) as scope:
            yield self._life
        if scope.cancelled_caught and limit is not None:
            raise VerbTimeout(self._settings.name, verb, limit)
