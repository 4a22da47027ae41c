"""Wrong wrappers of CALL that lose, mix or keep what calls carry."""

from __future__ import annotations

from dataclasses import replace

from mcp_conformance_reference.calls import Caller

from pytest_mcp_conformance.contract.calls import META_GOES_OUT_AND_COMES_BACK, PROGRESS_REACHES_ITS_OWN_CALL
from tests.wrong._client import Client
from tests.wrong._wire import ByWire, Wire
from tests.wrong._wrong import breaks


@breaks(META_GOES_OUT_AND_COMES_BACK)
class MetaIsNotSent(Client):
    """What the caller attaches is taken, and left."""

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        return await super().call_tool(tool, arguments, on_progress=on_progress)


@breaks(META_GOES_OUT_AND_COMES_BACK)
class ProgressReplacesMeta(Client):
    """The progress token is written in the place of what the caller attached."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            if plan.on_progress is not None:
                plan = plan._replace(meta=None)
            return await super().send(connection, plan, arguments)


@breaks(META_GOES_OUT_AND_COMES_BACK)
class MetaReplacesProgress(ByWire):
    """What the caller attached is written over everything else in the message."""

    class wire_type(Wire):
        async def out(self, frame):
            meta = frame.get("params", {}).get("_meta", {})
            mine = {key: value for key, value in meta.items() if key.startswith("com.example/")}
            if mine and "progressToken" in meta:
                frame = {**frame, "params": {**frame["params"], "_meta": mine}}
            await self.send(frame)


@breaks(META_GOES_OUT_AND_COMES_BACK)
class WritesIntoTheCallersMeta(Client):
    """The caller's object is what is filled in and sent."""

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        if meta is not None:
            meta["client"] = "mine"
        return await super().call_tool(tool, arguments, meta=meta, on_progress=on_progress)


@breaks(META_GOES_OUT_AND_COMES_BACK)
class MetaOfTheResultIsLost(Client):
    """The result is handed out without what it carries."""

    class caller_type(Caller):
        def read(self, plan, raw):
            return replace(super().read(plan, raw), meta=None)


@breaks(PROGRESS_REACHES_ITS_OWN_CALL)
class OneListenerForAll(Client):
    """The last one who asked hears of everybody's progress."""

    last = None

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        if on_progress is not None:
            self.last = on_progress
            on_progress = self.hear
        return await super().call_tool(tool, arguments, meta=meta, on_progress=on_progress)

    def hear(self, *step):
        self.last(*step)


@breaks(PROGRESS_REACHES_ITS_OWN_CALL)
class OneTokenForAll(ByWire):
    """Every call asks for its progress under one and the same token."""

    class wire_type(Wire):
        async def out(self, frame):
            meta = frame.get("params", {}).get("_meta", {})
            if "progressToken" in meta:
                meta["progressToken"] = "progress 1"
            await self.send(frame)


@breaks(PROGRESS_REACHES_ITS_OWN_CALL)
class MetaStaysOnTheClient(Client):
    """What a caller attached is attached to every later call."""

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        kept = self.__dict__.setdefault("kept", {})
        kept.update(meta or {})
        return await super().call_tool(tool, arguments, meta=dict(kept) or None, on_progress=on_progress)
