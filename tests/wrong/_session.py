"""A small wrapper over `dial.session()`, which wrong wrappers are made from that lean on the SDK below.

By itself it breaks nothing that it claims: it judges every answer by the definition that the tool was handed
out with, whatever the session under it does.
"""

from __future__ import annotations

from importlib import import_module

from mcp import ClientSession
from mcp_conformance_reference import Binding, CallResult, ListedTool, OutputCheck, definition_of
from mcp_conformance_reference.generations import listings_of

from pytest_mcp_conformance.adapters._calls import page_params
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from tests.wrong._wrong import Wrong

__all__ = ["OverSession", "over_session", "wrapping"]

CLAIMS = Claims(
    caches_listings=True,
    isolates_principals=True,
    same_task_close=True,
    one_shot=True,
    eras=("handshake", "modern") if hasattr(ClientSession, "discover") else ("handshake",),
    transports=("memory",),
)


class OverSession:
    """Keeps a listing until it is told that the tools changed."""

    def __init__(self, session):
        self.session = session
        self.count = listings_of(session)
        self.kept = None
        self.changes = 0
        self.asked = self.kept_by = 0

    async def list_tools(self):
        while self.kept is None:
            self.asked += 1
            number, began = self.asked, self.changes
            tools = await self.walk()
            if self.may_keep(began) and number > self.kept_by:
                self.kept, self.kept_by = tools, number
        return list(self.kept)

    def may_keep(self, began):
        return began == self.changes

    async def walk(self):
        tools, cursor, seen = [], None, set()
        while cursor not in seen:
            seen.add(cursor)
            settled = await self.ask(cursor)
            page = settled.answer
            for tool in page.tools:
                listed = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
                tools.append(ListedTool(Binding(definition_of(listed), 0, settled.generation), self))
            cursor = page.next_cursor if hasattr(page, "next_cursor") else page.nextCursor
            if cursor is None:
                return tools
        raise RuntimeError(f"the cursor {cursor!r} was given twice")

    async def ask(self, cursor):
        return await self.count.ask(lambda: self.session.list_tools(params=page_params(cursor)))

    def invalidate(self):
        self.changes += 1
        self.kept = None

    async def refresh(self):
        self.invalidate()
        await self.list_tools()

    async def call_tool(self, tool, arguments=None):
        if isinstance(tool, str):
            tool = next((known for known in await self.list_tools() if known.name == tool), tool)
        if isinstance(tool, str):
            return await self.send(tool, arguments)
        if self.leans(tool):
            return await self.session.call_tool(tool.name, arguments)
        check = OutputCheck(tool.definition)
        result = await self.send(tool.name, arguments)
        raw = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        check.judge(CallResult.read(tool.name, raw))
        return result

    def leans(self, tool):
        """Whether the SDK below is left to judge the answer."""
        return False

    async def send(self, name, arguments):
        """One call past the session's own checks."""
        types = import_module("mcp.types")
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        request = types.CallToolRequest(method="tools/call", params=params)
        if hasattr(types.ClientRequest, "model_fields"):  # 1.x wraps the union in a root model
            request = types.ClientRequest(request)
        return await self.session.send_request(request, types.CallToolResult)


def wrapping(name, kind):
    """An adapter for a wrapper over a session."""

    @adapter(name, version="wrong", claims=CLAIMS)
    async def play(dial):
        async with dial.session() as session:
            wrapper = kind(session)
            yield Wrapper(
                list_tools=wrapper.list_tools,
                call_tool=wrapper.call_tool,
                refresh=wrapper.refresh,
                invalidate=wrapper.invalidate,
            )

    return play


def over_session(rule, name):
    """Declare that a wrapper over a session breaks `rule`."""

    def declare(kind):
        full = f"{rule.id.lower().replace('-', '_')}_{name}"
        return Wrong(full, rule, (kind.__doc__ or "").strip(), wrapping(full, kind))

    return declare
