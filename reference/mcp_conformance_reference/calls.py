"""One `tools/call` for one verb: refused before it leaves, or sent once and judged by what was known then."""

from __future__ import annotations

from typing import Any, NamedTuple

from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.definitions import Definition, plain_copy
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import CallFailed, ConnectionLost, RequestFailed, StaleTool
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.progress import OnProgress
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.toollist import ToolList

__all__ = ["Caller", "Plan"]

_MOST_CHECKS = 1000
"""How many compiled checks are kept at most; they cost sixty times what judging by one does."""


class Plan(NamedTuple):
    """What was decided before a call left.

    Attributes:
        name: The name to send, exactly as listed.
        definition: The definition in force; None for a name that was never listed with an output schema.
        check: What will judge the answer; None where there is nothing to judge by.
        meta: What the caller attaches, None for nothing.
        on_progress: Hears of the call's progress; None where nobody does.
    """

    name: str
    definition: Definition | None
    check: OutputCheck | None
    meta: dict[str, Any] | None = None
    on_progress: OnProgress | None = None


class Caller:
    """Makes the calls of one client.

    Args:
        dialler: Gives the connection.
        tools: Gives the listing that calls are judged by.
        settings: The client's measures and parts.
    """

    def __init__(self, dialler: Dialler, tools: ToolList, settings: Settings) -> None:
        self._dialler = dialler
        self._tools = tools
        self._settings = settings
        self._checks: dict[Definition, OutputCheck] = {}

    async def call(
        self,
        tool: ListedTool | str,
        arguments: dict[str, Any] | None,
        meta: dict[str, Any] | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """Call a tool. What could fail beside the call is done before it leaves, so no result is ever lost.

        Raises:
            ValueError: The arguments or the `_meta` are not plain JSON.
            StaleTool, SchemaUnusable, ListFailed, DialFailed: Nothing was sent.
            ConnectionLost: The connection ended; the tool may have run.
            CallFailed: The server answered with an error.
            CheckFailed: The tool ran; its result is in the error.
        """
        copied = plain_copy({} if arguments is None else arguments)
        attached = None if meta is None else plain_copy(meta)
        connection = await self.ready()
        plan = self.plan(tool)
        if attached is not None or on_progress is not None:
            plan = plan._replace(meta=attached, on_progress=on_progress)
        result = self.read(plan, await self.send(connection, plan, copied))
        return self.judge(plan, result)

    async def ready(self) -> Connection:
        """A live connection whose tools are known, with nothing awaited since both were true.

        Raises:
            ListFailed, DialFailed, ConnectionLost: There is none to be had.
        """
        for _ in range(self._settings.max_walks):
            connection = await self._dialler.connected()
            if not self._tools.known(connection):
                await self._tools.current()
            if self._tools.known(connection) and connection.alive:
                return connection
        raise ConnectionLost(
            f"{self._settings.name}: connection and tools never held still; nothing was sent, try again"
        )

    def plan(self, tool: ListedTool | str) -> Plan:
        """Decide what is sent and what judges the answer.

        Raises:
            StaleTool: The newest listing lacks the tool, or shows it otherwise.
            SchemaUnusable: The output schema cannot judge anything.
        """
        if isinstance(tool, str):
            name, definition = tool, self.definition_of_name(tool)
        else:
            name, definition = tool.name, self.definition_of_handle(tool)
        return Plan(name, definition, None if definition is None else self.check(definition))

    def definition_of_name(self, name: str) -> Definition | None:
        """For a name, the newest definition counts.

        Returns:
            None where it was never listed with an output schema: the server may know more than it lists.

        Raises:
            StaleTool: It was listed with one, and the newest listing lacks it.
        """
        known = self._tools.listed.definition(name)
        if known is None and self._tools.ever_promised(name):
            raise StaleTool(name, "it was listed with an output schema, and the newest listing lacks it")
        return known

    def definition_of_handle(self, tool: ListedTool) -> Definition:
        """For a tool that was handed out, the definition it was minted from counts.

        Raises:
            StaleTool: The newest listing lacks it, or shows it otherwise.
        """
        known = self._tools.listed.definition(tool.name)
        if known is None:
            raise StaleTool(tool.name, "the newest listing lacks it")
        if known.canonical != tool.definition.canonical:
            changed = ", ".join(known.differences(tool.definition))
            raise StaleTool(tool.name, f"the newest listing shows it otherwise ({changed})")
        return tool.definition

    def check(self, definition: Definition) -> OutputCheck:
        """The check that a definition asks for, made once: a definition never changes.

        Raises:
            SchemaUnusable: The output schema cannot judge anything. That is not kept.
        """
        made = self._checks.get(definition)
        if made is None:
            if len(self._checks) >= _MOST_CHECKS:
                self._checks.clear()
            made = self._checks[definition] = self._settings.parts.check_type(definition)
        return made

    async def send(self, connection: Connection, plan: Plan, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send the call, once, whatever comes of it; a modern server may take it through several rounds.

        Raises:
            CallFailed: The server answered with an error, or asks without end.
            ConnectionLost: The connection ended before the answer.
        """
        params: dict[str, Any] = {"name": plan.name, "arguments": arguments}
        if plan.meta is not None:
            params["_meta"] = plan.meta
        if plan.on_progress is None:
            return await self.send_params(connection, plan, params)
        with connection.exchange.progress.told_to(plan.on_progress) as token:
            params["_meta"] = {**(plan.meta or {}), "progressToken": token}
            return await self.send_params(connection, plan, params)

    async def send_params(self, connection: Connection, plan: Plan, params: dict[str, Any]) -> dict[str, Any]:
        """Send the call with all that it carries.

        Raises:
            CallFailed, ConnectionLost: As for `send`.
        """
        try:
            if connection.session.era == "handshake":
                return await connection.ask("tools/call", params)
            rounds = self._settings.parts.rounds_type(
                lambda asked: connection.ask("tools/call", asked),
                self._tools.refresh,
                self._settings.on_input,
                self._settings.max_rounds,
            )
            return await rounds.drive(plan.name, params)
        except CallFailed:
            raise
        except RequestFailed as error:
            raise CallFailed.of(plan.name, error) from error

    def read(self, plan: Plan, raw: dict[str, Any]) -> CallResult:
        """Read a raw result.

        Raises:
            CallFailed: It is none.
        """
        return CallResult.read(plan.name, raw)

    def judge(self, plan: Plan, result: CallResult) -> CallResult:
        """Give a result back, if it keeps what was promised when the call left.

        Raises:
            CheckFailed: It does not.
        """
        return result if plan.check is None else plan.check.judge(result)
