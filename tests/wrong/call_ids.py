"""Wrong wrappers of CALL that pair requests, answers and cancellations wrongly."""

from __future__ import annotations

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.exchange import Exchange

from pytest_mcp_conformance.contract.calls import (
    ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT,
    CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST,
    LATE_ANSWER_HARMS_NOTHING,
    REQUEST_IDS_DO_NOT_CLASH,
)
from tests.wrong._client import Client
from tests.wrong._wire import ByWire, Wire
from tests.wrong._wrong import breaks


@breaks(REQUEST_IDS_DO_NOT_CLASH)
class CountsToThree(ByWire):
    """Ids come from a counter that begins anew; answers go to whoever asked first under theirs."""

    class wire_type(Wire):
        def __init__(self):
            self.asked = {}

        async def out(self, frame):
            if "method" in frame and "id" in frame:
                short = frame["id"] % 3
                self.asked.setdefault(short, []).append(frame["id"])
                frame = {**frame, "id": short}
            await self.send(frame)

        async def back(self, frame):
            if "method" in frame:
                return [frame]
            return [{**frame, "id": self.asked[frame["id"]].pop(0)}]


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
class LateAnswerIsFatal(Client):
    """An answer that nobody waits for any more is taken for a broken connection."""

    class exchange_type(Exchange):
        def given_up(self, request):
            self.__dict__.setdefault("gone", set()).add(request.id)
            super().given_up(request)

        def answered(self, frame):
            super().answered(frame)
            if frame.id in self.__dict__.get("gone", ()):
                self._on_lost(ConnectionError(f"an answer to nothing, {frame.id}"))


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
class CancelsTheLastRequest(Client):
    """Whatever is given up, the id that was sent last is cancelled."""

    class exchange_type(Exchange):
        async def leaving(self, frame):
            if frame.method is not None and frame.id is not None:
                self.last = frame.id
            await super().leaving(frame)

        async def say_cancelled(self, request):
            await self._session().tell("notifications/cancelled", {"requestId": self.last})


@breaks(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST)
class CancelsWhatIsDone(Client):
    """A call that has ended is cancelled, however it ended."""

    class exchange_type(Exchange):
        async def leaving(self, frame):
            await super().leaving(frame)
            self.last = frame.id

        async def ask(self, method, params):
            try:
                return await super().ask(method, params)
            finally:
                if method == "tools/call" and self.over is None:
                    await self._session().tell("notifications/cancelled", {"requestId": self.last})


@breaks(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST)
class CancelsTheHandshake(Client):
    """A dial that is given up is cancelled like a call."""

    class exchange_type(Exchange):
        handshake = None

        async def leaving(self, frame):
            if frame.method == "initialize":
                self.handshake = frame.id
            await super().leaving(frame)

    class connection_type(Connection):
        async def close(self, why):
            if not self._opened and self.exchange.handshake is not None:
                await self.session.tell("notifications/cancelled", {"requestId": self.exchange.handshake})
            await super().close(why)


@breaks(ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT)
class TextIsNoNumber(ByWire):
    """An answer under the text "7" is not the answer to 7, and nobody is told."""

    class wire_type(Wire):
        async def back(self, frame):
            return [] if "method" not in frame and isinstance(frame["id"], str) else [frame]
