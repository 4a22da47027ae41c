"""Wrong wrappers of LDG."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace

import mcp_conformance_reference.watcher as watching
from mcp_conformance_reference.ledger import RequestLedger, _within
from mcp_conformance_reference.marker import take_marker
from mcp_conformance_reference.sdk import frame_of

from pytest_mcp_conformance.adapters._reference import WhiteBox
from pytest_mcp_conformance.contract.ledger import (
    ABANDONED_CALLS_LEAVE_NOTHING_OPEN,
    ANSWERS_ARE_TIED_BY_ID,
    CALL_WITHOUT_A_REQUEST_IS_NOT_SENT,
    IDS_ARE_OF_ONE_CONNECTION,
    ONE_WATCHER_PER_CONNECTION,
    PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER,
    REQUEST_OF_NO_CALL_IS_RECORDED,
    REQUESTS_ARE_MATCHED_BY_MARKER_ONLY,
    REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS,
    SEND_THAT_RAISES_IS_NO_SEND,
    WATCHED_SEND_KEEPS_THE_CONTRACT,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def guessing(self, method, params):
    """The oldest open call of equal content that has no request yet."""
    for call in self._calls.values():
        bare = take_marker({"params": call.params}).message["params"]
        same = all(bare.get(key) == (params or {}).get(key) for key in ("name", "arguments"))
        if method == call.method and same and not call.attempts:
            return call.ref
    return None


@breaks(REQUESTS_ARE_MATCHED_BY_MARKER_ONLY)
class MatchesByContent(Client):
    """A request is the first call's that has its tool and its arguments."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            guess = guessing(self, method, params) if method == "tools/call" else None
            return super().leaving(connection, method, request_id, params, guess)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(REQUEST_OF_NO_CALL_IS_RECORDED)
class DropsWhatItCannotMatch(Client):
    """A request without a marker is not recorded."""

    class Ledger(RequestLedger):
        def records(self, call=None):
            return [record for record in super().records(call) if record.call is not None]

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT)
class EveryCallWasSent(Client):
    """A call is recorded as sent when it begins."""

    class Ledger(RequestLedger):
        def records(self, call=None):
            return [
                replace(record, state="sent") if record.state == "not sent" else record
                for record in super().records(call)
            ]

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT)
class RefusedCallsAreForgotten(Client):
    """A call that sent nothing leaves no record."""

    class Ledger(RequestLedger):
        def records(self, call=None):
            return [record for record in super().records(call) if record.state != "not sent"]

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(IDS_ARE_OF_ONE_CONNECTION)
class ComparesIdsAcrossConnections(Client):
    """An answer is the first open request's that has its id, on whatever connection."""

    class Ledger(RequestLedger):
        def heard(self, connection, request_id, error_code):
            for record in list(self._open.values()):
                if record.request_id == request_id:
                    self.answered(record, error_code)
                    return

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS)
class TakesTheLastRequestForTheCalls(Client):
    """The call's request is the last one that left while it was under way."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            hidden = self.witness() if method == "tools/list" else None
            return super().leaving(connection, method, request_id, params, ref or hidden)

    white_box = WhiteBox(request_ledger=Ledger)


def watching_by(write_type):
    """A ledger whose write streams are of another type."""

    class Ledger(RequestLedger):
        def watch(self, read, write):
            read, write = super().watch(read, write)
            return read, write_type(write._stream, write.watch)

    return Ledger


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class SwallowsTheError(Client):
    """What a send raises is recorded, and not raised."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            try:
                return await super().send(item)
            except OSError:
                return None

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class LosesTheMetadata(Client):
    """A message without its marker has no metadata any more."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            return await super().send(replace(item, metadata=None))

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class LosesWhatASendReturns(Client):
    """A send returns nothing, whatever the transport returns."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            await super().send(item)

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class DoesNotWaitForTheTransport(Client):
    """A message is handed to a task, and the send comes back."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            sending = asyncio.get_running_loop().create_task(super().send(item), name="send")
            for _ in range(10):
                await asyncio.sleep(0)
            return sending.result() if sending.done() else None

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(ONE_WATCHER_PER_CONNECTION)
class StripsMarkersOfOthers(Client):
    """The first ledger takes every marker out, its own or not."""

    class Ledger(RequestLedger):
        def owns(self, ref):
            return True

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(SEND_THAT_RAISES_IS_NO_SEND)
class RaisedIsSent(Client):
    """A send that raised is recorded as sent."""

    class Ledger(RequestLedger):
        def raised(self, record, error):
            self.departed(record)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(SEND_THAT_RAISES_IS_NO_SEND)
class RaisedIsFailed(Client):
    """A send that raised is recorded as failed, though the message may have left."""

    class Ledger(RequestLedger):
        def raised(self, record, error):
            self.settle(record, "failed")

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(SEND_THAT_RAISES_IS_NO_SEND)
class SendsAgainByItself(Client):
    """A send that raised is tried once more."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            stream = self._stream

            class Again:
                async def send(self, item):
                    try:
                        return await stream.send(item)
                    except Exception:
                        return await stream.send(item)

            self._stream = Again()
            try:
                return await super().send(item)
            finally:
                self._stream = stream

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(ABANDONED_CALLS_LEAVE_NOTHING_OPEN)
class AbandonedCallsStayOpen(Client):
    """A call that ends without an answer goes on waiting for it."""

    class Ledger(RequestLedger):
        def end(self, call):
            open_ones = [record for record in call.attempts if record.state in ("sending", "sent")]
            call.attempts = [record for record in call.attempts if record not in open_ones] or [None]
            call.attempts = [record for record in call.attempts if record is not None]
            if call.attempts or not open_ones:
                super().end(call)
            else:
                del self._calls[call.ref]

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(ABANDONED_CALLS_LEAVE_NOTHING_OPEN)
class KeepsEveryRecord(Client):
    """Nothing is ever dropped."""

    class Ledger(RequestLedger):
        def __init__(self):
            super().__init__(limit=1_000_000)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER)
class KnowsStreamsOnly(Client):
    """A dispatcher is used as it is: the server is handed the marker."""

    class Ledger(RequestLedger):
        def watch_dispatcher(self, dispatcher):
            return dispatcher

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER)
class StumblesOverAMissingId(Client):
    """Every request is taken to have an id."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            if method == "tools/call" and int(request_id) < 0:
                raise ValueError(request_id)
            return super().leaving(connection, method, request_id, params, ref)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(ANSWERS_ARE_TIED_BY_ID)
class PairsInOrder(Client):
    """An answer is the oldest open request's on its connection."""

    class Ledger(RequestLedger):
        def heard(self, connection, request_id, error_code):
            for record in self._open.values():
                if record.connection == connection:
                    self.answered(record, error_code)
                    return

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(REQUEST_OF_NO_CALL_IS_RECORDED)
class StumblesOverACallThatIsOver(Client):
    """Whatever is written in a call's context is taken to be written while the call is under way."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            if ref is None and (witness := self.witness()) is not None:
                assert self._calls[witness].method
            return super().leaving(connection, method, request_id, params, ref)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(REQUEST_OF_NO_CALL_IS_RECORDED)
class CallNeverLeavesItsContext(Client):
    """What is written after a call is recorded as written within it."""

    class Ledger(RequestLedger):
        @contextmanager
        def call(self, params, method="tools/call"):
            with super().call(params, method) as call:
                yield call
            _within.set(call.ref)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT)
class AnyRequestWithinMayBeTheCalls(Client):
    """A call within which anything was written is not recorded as not sent."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            if (inside := self._calls.get(self.witness())) is not None:
                inside.written_within = True
            return super().leaving(connection, method, request_id, params, ref)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT)
class NotSentOnTheFirstConnection(Client):
    """A call that was not sent is recorded on the first connection."""

    class Ledger(RequestLedger):
        def records(self, call=None):
            found = super().records(call)
            return [replace(each, connection=each.connection or 1) for each in found]

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(IDS_ARE_OF_ONE_CONNECTION)
class OneEndIsTheEndOfAll(Client):
    """When one connection ends, what is out on any other counts as lost."""

    class Ledger(RequestLedger):
        def disconnected(self, connection):
            for record in list(self._open.values()):
                self.settle(record, "lost")

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class KnowsTheParamsOfToday(Client):
    """A message without its marker has the params that the SDK knows, and no other."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            frame = frame_of(item)
            if frame is not None and frame.params and "name" in frame.params:
                known = {
                    key: frame.params[key] for key in ("name", "arguments", "_meta") if key in frame.params
                }
                item = watching.with_params(item, known) if known != frame.params else item
            return await super().send(item)

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(WATCHED_SEND_KEEPS_THE_CONTRACT)
class CannotBeLeft(Client):
    """Leaving the watched stream leaves the stream under it open."""

    class Write(watching.WatchedWrite):
        async def __aexit__(self, *exc):
            self.watch.ended()

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(ABANDONED_CALLS_LEAVE_NOTHING_OPEN)
class WaitsForAnswersToNotifications(Client):
    """Every message that leaves is recorded as a request."""

    class Write(watching.WatchedWrite):
        async def send(self, item):
            frame = frame_of(item)
            if frame is not None and frame.method is not None and frame.id is None:
                self.watch.leaving(frame.method, None, frame.params)
            return await super().send(item)

    white_box = WhiteBox(request_ledger=watching_by(Write))


@breaks(ABANDONED_CALLS_LEAVE_NOTHING_OPEN)
class KeepsEveryId(Client):
    """The records are bounded, and what answers find them by is not."""

    class Ledger(RequestLedger):
        def __init__(self):
            super().__init__()
            self.ids = []

        def settle(self, record, state):
            self.ids.append((record.connection, record.request_id))
            super().settle(record, state)

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER)
class SendsRequestsOnly(Client):
    """A watched dispatcher has no use for notifications."""

    class Ledger(RequestLedger):
        def watch_dispatcher(self, dispatcher):
            watched = super().watch_dispatcher(dispatcher)

            async def notify(*args, **kwargs):
                pass

            watched.notify = notify
            return watched

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(ANSWERS_ARE_TIED_BY_ID)
class EveryIdIsAnAnswer(Client):
    """Whatever comes with an id is an answer."""

    class Ledger(RequestLedger):
        def watch(self, read, write):
            read, write = super().watch(read, write)
            write.watch.heard = lambda frame: frame.id is not None and self.heard(1, frame.id, None)
            return read, write

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(REQUEST_OF_NO_CALL_IS_RECORDED)
class EveryRequestIsAnAttempt(Client):
    """Requests that match no call are counted as a first attempt."""

    class Ledger(RequestLedger):
        def records(self, call=None):
            return [replace(record, attempt=record.attempt or 1) for record in super().records(call)]

    white_box = WhiteBox(request_ledger=Ledger)
