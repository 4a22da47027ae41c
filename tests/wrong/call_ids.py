"""Wrong wrappers of CALL that pair requests, answers and cancellations wrongly."""

from __future__ import annotations

from itertools import count

import anyio

from pytest_mcp_conformance.contract.calls import (
    ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT,
    CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST,
    LATE_ANSWER_HARMS_NOTHING,
    REQUEST_IDS_DO_NOT_CLASH,
)
from tests.wrong._wire import ByWire, Wire
from tests.wrong._wrong import breaks


@breaks(REQUEST_IDS_DO_NOT_CLASH, eras=("handshake",))
class TakesTheFirstFreeId(ByWire):
    """An id is used again once its request is answered, which the older era does not allow."""

    class wire_type(Wire):
        def __init__(self):
            self.meant = {}

        async def out(self, frame):
            if "method" in frame and "id" in frame:
                free = next(number for number in count() if number not in self.meant)
                self.meant[free] = frame["id"]
                frame = {**frame, "id": free}
            elif frame.get("method") == "notifications/cancelled":
                given = frame["params"]["requestId"]
                free = next(number for number, meant in self.meant.items() if meant == given)
                frame = {**frame, "params": {"requestId": free}}
            await self.send(frame)

        async def back(self, frame):
            return [frame if "method" in frame else {**frame, "id": self.meant.pop(int(frame["id"]))}]


@breaks(REQUEST_IDS_DO_NOT_CLASH, resends_calls=("error",))
class ResendsUnderTheOldId(ByWire):
    """A call that fails is sent once more as it was, its id included."""

    class wire_type(Wire):
        def __init__(self):
            self.calls = {}

        async def out(self, frame):
            if frame.get("method") == "tools/call":
                self.calls[frame["id"]] = frame
            await self.send(frame)

        async def back(self, frame):
            if "error" in frame and (call := self.calls.pop(frame["id"], None)) is not None:
                await self.send(call)
                return []
            return [frame]


@breaks(LATE_ANSWER_HARMS_NOTHING)
class LateAnswerIsFatal(ByWire):
    """An answer that nobody waits for any more is taken for the end of the connection."""

    class wire_type(Wire):
        def __init__(self):
            self.gone = set()

        async def out(self, frame):
            if frame.get("method") == "notifications/cancelled":
                self.gone.add(frame["params"]["requestId"])
            await self.send(frame)

        async def back(self, frame):
            if frame.get("id") in self.gone:
                raise anyio.EndOfStream
            return [frame]


@breaks(LATE_ANSWER_HARMS_NOTHING)
class LateAnswerAfterALimitIsFatal(ByWire):
    """An answer to a call whose own limit is over is taken for the end of the connection."""

    def enter(self):
        over = self.over = set()

        class Strict(Wire):
            def __init__(self):
                self.calls = {}

            async def out(self, frame):
                if frame.get("method") == "tools/call":
                    self.calls[frame["id"]] = frame["params"]["arguments"]["nonce"]
                await self.send(frame)

            async def back(self, frame):
                if self.calls.get(frame.get("id")) in over:
                    raise anyio.EndOfStream
                return [frame]

        self.wire_type = Strict
        super().enter()

    def verbs(self):
        return {"call_within": self.call_within}

    async def call_within(self, tool, arguments, seconds):
        try:
            with anyio.fail_after(seconds):
                return await self.call_tool(tool, arguments)
        except TimeoutError:
            self.over.add(arguments["nonce"])
            raise


@breaks(LATE_ANSWER_HARMS_NOTHING)
class LateAnswerGoesToTheNextCall(ByWire):
    """An answer that nobody waits for any more is given to whoever waits."""

    class wire_type(Wire):
        def __init__(self):
            self.calls, self.gone = [], set()

        async def out(self, frame):
            if frame.get("method") == "tools/call":
                self.calls.append(frame["id"])
            if frame.get("method") == "notifications/cancelled":
                self.gone.add(frame["params"]["requestId"])
            await self.send(frame)

        async def back(self, frame):
            return [{**frame, "id": self.calls[-1]} if frame.get("id") in self.gone else frame]


@breaks(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST)
class CancelsTheLastRequest(ByWire):
    """Whatever is given up, the id that was sent last is cancelled."""

    class wire_type(Wire):
        async def out(self, frame):
            if "id" in frame:
                self.last = frame["id"]
            if frame.get("method") == "notifications/cancelled":
                frame = {**frame, "params": {"requestId": self.last}}
            await self.send(frame)


@breaks(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST)
class CancelsWhatIsDone(ByWire):
    """A request that was answered is cancelled, to make sure."""

    class wire_type(Wire):
        async def back(self, frame):
            if "method" not in frame:
                await self.send(cancelling(frame["id"]))
            return [frame]


@breaks(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST)
class CancelsTheHandshake(ByWire):
    """A handshake that is given up is cancelled like any other request."""

    class wire_type(Wire):
        handshake = None

        async def out(self, frame):
            self.handshake = frame["id"] if frame.get("method") == "initialize" else None
            await self.send(frame)

        async def leave(self):
            if self.handshake is not None:
                await self.send(cancelling(self.handshake))


def cancelling(number):
    """The notification that cancels a request."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


@breaks(ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT)
class TextIsNoNumber(ByWire):
    """An answer under the text "7" is not the answer to 7, and nobody is told."""

    class wire_type(Wire):
        async def back(self, frame):
            return [] if "method" not in frame and isinstance(frame["id"], str) else [frame]
