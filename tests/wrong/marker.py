"""Wrong wrappers of MRK."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

from mcp_conformance_reference.ledger import RequestLedger
from mcp_conformance_reference.marker import CALL_MARKER_KEY, TakenMarker, mark_params, take_marker
from mcp_conformance_reference.watcher import WatchedWrite

from pytest_mcp_conformance.adapters._reference import WhiteBox
from pytest_mcp_conformance.contract.marker import (
    EMPTY_META_OF_A_CALLER_STAYS,
    EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN,
    EVERY_CALL_HAS_ITS_OWN_MARKER,
    FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED,
    MARKER_IS_NEVER_SERIALISED,
    MARKER_OUTLIVES_COPIES,
    MARKERS_REVEAL_NOTHING,
    MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE,
    MARKING_MAKES_NEW_PARAMS,
    META_OF_THE_MARKER_ALONE_IS_REMOVED,
    ODD_MESSAGES_PASS_UNTOUCHED,
    ONLY_A_STRING_IS_A_MARKER,
    OTHER_META_ENTRIES_ARE_KEPT,
    REQUEST_WITHOUT_ITS_META_GOES_OUT,
    RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER,
    TAKING_CHANGES_NO_MESSAGE,
    UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks
from tests.wrong.ledger import watching_by

UNMARKED = {"name": "old", "arguments": {"nonce": "n1"}}


def taking(change):
    """A `take_marker` that changes what was taken: `change(taken, params)` gives other params."""

    def take(message):
        taken = take_marker(message)
        if taken.marker is None:
            return taken
        return replace(taken, message={**taken.message, "params": change(taken, message["params"])})

    return take


# -- marking -----------------------------------------------------------------------------------------------


def mark_in_place(params, marker):
    marked = mark_params(params, marker)
    if "_meta" in params:
        params["_meta"].update(marked["_meta"])
    return marked


@breaks(MARKING_MAKES_NEW_PARAMS)
class MarksTheCallersMeta(Client):
    """The marker is written into the caller's own `_meta`."""

    white_box = WhiteBox(mark_params=mark_in_place)


def mark_same_object(params, marker):
    params["_meta"] = mark_params(params, marker)["_meta"]
    return params


@breaks(MARKING_MAKES_NEW_PARAMS)
class MarksTheParamsThemselves(Client):
    """The caller's params are marked and handed back."""

    white_box = WhiteBox(mark_params=mark_same_object)


def meta_first(params, marker):
    marked = mark_params(params, marker)
    return {"_meta": marked["_meta"], **marked}


@breaks(MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE)
class MetaComesFirst(Client):
    """`_meta` is put before the other keys."""

    white_box = WhiteBox(mark_params=meta_first)


def meta_last(params, marker):
    marked = mark_params(params, marker)
    return {**{key: value for key, value in marked.items() if key != "_meta"}, "_meta": marked["_meta"]}


@breaks(MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE)
class MetaComesLast(Client):
    """A `_meta` that the caller gave is moved behind the other keys."""

    white_box = WhiteBox(mark_params=meta_last)


class ByIdentity:
    """Remembers marked params by the object, beside the string."""

    def __init__(self):
        self.marked = []

    def mark(self, params, marker):
        marked = mark_params(params, marker)
        self.marked.append(marked)
        return marked

    def take(self, message):
        params = message.get("params") if isinstance(message, dict) else None
        known = any(params is each for each in self.marked)
        return take_marker(message) if known else TakenMarker(None, message)


by_identity = ByIdentity()


@breaks(MARKER_OUTLIVES_COPIES)
class KnowsParamsByIdentity(Client):
    """A marker counts only in the very params that were marked."""

    white_box = WhiteBox(mark_params=by_identity.mark, take_marker=by_identity.take)


# -- taking ------------------------------------------------------------------------------------------------


def take_in_place(message):
    taken = take_marker(message)
    if taken.marker is not None:
        message["params"] = taken.message["params"]
    return taken


@breaks(TAKING_CHANGES_NO_MESSAGE)
class TakesInPlace(Client):
    """The marker is deleted from the SDK's own message."""

    white_box = WhiteBox(take_marker=take_in_place)


def take_a_copy(message):
    taken = take_marker(message)
    if taken.marker is None and isinstance(message, dict) and message.get("params") == UNMARKED:
        return replace(taken, message=dict(message))
    return taken


@breaks(UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF)
class AlwaysCopies(Client):
    """A message is copied, whether or not it carries a marker."""

    white_box = WhiteBox(take_marker=take_a_copy)


def with_an_empty_meta(taken, params):
    bare = taken.message["params"]
    return {key: bare.get(key, {}) for key in params}


@breaks(META_OF_THE_MARKER_ALONE_IS_REMOVED)
class LeavesAnEmptyMeta(Client):
    """A `_meta` that the marker brought stays, empty."""

    white_box = WhiteBox(take_marker=taking(with_an_empty_meta))


class EmptyMetaLedger(RequestLedger):
    def take(self, message):
        return taking(lambda taken, params: {"_meta": {"": 0}} | taken.message["params"])(message)


@breaks(META_OF_THE_MARKER_ALONE_IS_REMOVED)
class SendsTheMetaOfTheMarker(Client):
    """A `_meta` that the marker brought goes out."""

    white_box = WhiteBox(request_ledger=EmptyMetaLedger)


def rebuilt(taken, params):
    """`_meta` built anew from the few entries that are known."""
    bare = dict(taken.message["params"])
    if meta := bare.get("_meta"):
        bare["_meta"] = {key: value for key, value in meta.items() if key == "progressToken"}
    return bare


@breaks(OTHER_META_ENTRIES_ARE_KEPT)
class RebuildsTheMeta(Client):
    """Of the other entries in `_meta` the known ones are kept."""

    white_box = WhiteBox(take_marker=taking(rebuilt))


class MetaOfTheCallerLedger(RequestLedger):
    def take(self, message):
        def callers(taken, params):
            bare = dict(taken.message["params"])
            if "_meta" in bare:
                bare["_meta"] = {k: v for k, v in bare["_meta"].items() if k != "progressToken"}
            return bare

        return taking(callers)(message)


@breaks(OTHER_META_ENTRIES_ARE_KEPT)
class SendsTheCallersMetaAlone(Client):
    """What the SDK put into `_meta` is lost when the marker is taken out."""

    white_box = WhiteBox(request_ledger=MetaOfTheCallerLedger)


def moved(taken, params):
    bare = dict(taken.message["params"])
    if isinstance(bare.get("_meta"), dict):
        bare["_meta"] = dict(reversed(bare["_meta"].items()))
    return bare


@breaks(OTHER_META_ENTRIES_ARE_KEPT)
class ReordersTheMeta(Client):
    """The other entries of `_meta` change places."""

    white_box = WhiteBox(take_marker=taking(moved))


def take_boldly(message):
    if isinstance(message["params"].get("_meta"), dict):
        return take_marker(message)
    return TakenMarker(None, message)


@breaks(ODD_MESSAGES_PASS_UNTOUCHED)
class StumblesOverOddMessages(Client):
    """Every message is taken for one with params that are an object."""

    white_box = WhiteBox(take_marker=take_boldly)


def take_and_tidy(message):
    params = message.get("params") if isinstance(message, dict) else None
    if isinstance(params, dict) and "_meta" in params and not isinstance(params["_meta"], dict):
        params = {key: value for key, value in params.items() if key != "_meta"}
        return TakenMarker(None, {**message, "params": params})
    return take_marker(message)


@breaks(ODD_MESSAGES_PASS_UNTOUCHED)
class TidiesOddMessages(Client):
    """A `_meta` that is no object is removed."""

    white_box = WhiteBox(take_marker=take_and_tidy)


def take_any_value(message):
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and not isinstance(meta.get(CALL_MARKER_KEY, ""), str):
        return TakenMarker(meta[CALL_MARKER_KEY], message)
    return take_marker(message)


@breaks(ONLY_A_STRING_IS_A_MARKER)
class TakesAnyValue(Client):
    """Whatever stands under the key is a marker."""

    white_box = WhiteBox(take_marker=take_any_value)


# -- in the ledger -----------------------------------------------------------------------------------------


class ContentLedger(RequestLedger):
    def call(self, params, method="tools/call"):
        self.content = json.dumps(params)
        return super().call(params, method)

    def new_ref(self):
        return f"{self._family}-{self.content.encode().hex()}"

    def end(self, call):
        if self._calls.get(call.ref) is call:
            super().end(call)


@breaks(EVERY_CALL_HAS_ITS_OWN_MARKER)
class MarkerOfTheContent(Client):
    """The marker is made from the tool and its arguments."""

    white_box = WhiteBox(request_ledger=ContentLedger)


class CallsOnlyLedger(RequestLedger):
    def take(self, message):
        params = message["params"] or {}
        return take_marker(message) if "name" in params else TakenMarker(None, message)


@breaks(MARKER_IS_NEVER_SERIALISED)
class TakesFromCallsOnly(Client):
    """The marker is taken out of `tools/call`, and of nothing else."""

    white_box = WhiteBox(request_ledger=CallsOnlyLedger)


class FirstSendLedger(RequestLedger):
    def take(self, message):
        taken = super().take(message)
        seen = self.__dict__.setdefault("seen", set())
        if taken.marker in seen:
            return TakenMarker(None, message)
        seen.add(taken.marker)
        return taken


@breaks(EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN)
class TakesFromTheFirstSend(Client):
    """A marker is taken out once; a request that is sent again leaks it."""

    white_box = WhiteBox(request_ledger=FirstSendLedger)


@breaks(MARKER_IS_NEVER_SERIALISED)
class ResendLeaksTheMarker(Client):
    """A request that the SDK sends again is recorded, and goes out as it is."""

    class Ledger(FirstSendLedger):
        def leaving(self, connection, method, request_id, params, ref):
            leaked = params is not None and take_marker({"params": params}).marker
            return super().leaving(connection, method, request_id, params, leaked or ref)

    white_box = WhiteBox(request_ledger=Ledger)


class OneRequestLedger(RequestLedger):
    def leaving(self, connection, method, request_id, params, ref):
        if ref is not None and self._calls[ref].attempts:
            raise RuntimeError("duplicate marker")
        return super().leaving(connection, method, request_id, params, ref)


@breaks(EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN)
class RefusesASecondRequest(Client):
    """A marker that was seen before is an error."""

    white_box = WhiteBox(request_ledger=OneRequestLedger)


@breaks(EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN)
class CountsTheLastRequestOnly(Client):
    """A request that is sent again takes the place of the one before."""

    class Ledger(RequestLedger):
        def leaving(self, connection, method, request_id, params, ref):
            call = self._calls.get(ref)
            if call is not None:
                for before in call.attempts:
                    before.call = None
                call.attempts.clear()
            return super().leaving(connection, method, request_id, params, ref)

    white_box = WhiteBox(request_ledger=Ledger)


class TrustingLedger(RequestLedger):
    def mark(self, params, ref):
        meta = params.get("_meta") or {}
        return dict(params) if CALL_MARKER_KEY in meta else mark_params(params, ref)


@breaks(RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER)
class TrustsTheReservedKey(Client):
    """A value that the caller put under the reserved key is left there, and taken for a marker."""

    white_box = WhiteBox(request_ledger=TrustingLedger)


class BlockingLedger(RequestLedger):
    def leaving(self, connection, method, request_id, params, ref):
        if method == "tools/call" and ref is None and self._calls:
            raise RuntimeError("a call without a marker")
        return super().leaving(connection, method, request_id, params, ref)


@breaks(REQUEST_WITHOUT_ITS_META_GOES_OUT)
class BlocksUnmarkedCalls(Client):
    """A call that has lost its marker is not let out."""

    white_box = WhiteBox(request_ledger=BlockingLedger)


class GuessingLedger(RequestLedger):
    def leaving(self, connection, method, request_id, params, ref):
        if method == "tools/call" and ref is None and len(self._calls) == 1:
            (ref,) = self._calls
        return super().leaving(connection, method, request_id, params, ref)


@breaks(REQUEST_WITHOUT_ITS_META_GOES_OUT)
class GuessesWhoseRequestItIs(Client):
    """A call without a marker is that of the only open call."""

    white_box = WhiteBox(request_ledger=GuessingLedger)


class ReorderingLedger(RequestLedger):
    def take(self, message):
        return taking(lambda taken, params: dict(reversed(taken.message["params"].items())))(message)


@breaks(FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED)
class ReordersTheParams(Client):
    """Params come out of the watcher in another order."""

    white_box = WhiteBox(request_ledger=ReorderingLedger)


class KnownParamsLedger(RequestLedger):
    def take(self, message):
        known = ("name", "_meta", "cursor")
        return taking(lambda taken, _: {k: v for k, v in taken.message["params"].items() if k in known})(
            message
        )


@breaks(FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED)
class DropsParams(Client):
    """Params are rebuilt from the known ones."""

    white_box = WhiteBox(request_ledger=KnownParamsLedger)


def mark_without_memory(params, marker):
    return mark_params({key: value for key, value in params.items() if key != "_meta" or value}, marker)


@breaks(EMPTY_META_OF_A_CALLER_STAYS)
class ForgetsAnEmptyMeta(Client):
    """A caller's empty `_meta` is removed with the marker."""

    white_box = WhiteBox(
        mark_params=lambda params, marker: (
            {**params, "_meta": mark_without_memory(params, marker)["_meta"]}
            if params.get("_meta") == {}
            else mark_params(params, marker)
        )
    )


@breaks(MARKERS_REVEAL_NOTHING)
class CountsMarkersOnEachLedger(Client):
    """Markers are numbers that begin anew with each ledger."""

    class Ledger(RequestLedger):
        def new_ref(self):
            return f"call-{next(self.__dict__.setdefault('count', count(1)))}"

        def owns(self, ref):
            return ref in self._calls

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(MARKERS_REVEAL_NOTHING)
class NamesTheToolInTheMarker(Client):
    """A marker says which tool is called."""

    class Ledger(RequestLedger):
        def call(self, params, method="tools/call"):
            self.name = params.get("name", "")
            return super().call(params, method)

        def new_ref(self):
            return f"{super().new_ref()}-{self.name}"

    white_box = WhiteBox(request_ledger=Ledger)


@breaks(META_OF_THE_MARKER_ALONE_IS_REMOVED)
class KnownParamsAreKept(Client):
    """Params without their marker are rebuilt from the names that a call has."""

    white_box = WhiteBox(
        take_marker=taking(
            lambda taken, params: {
                key: value
                for key, value in taken.message["params"].items()
                if key in ("name", "arguments", "_meta")
            }
        )
    )


@breaks(MARKER_IS_NEVER_SERIALISED)
class OtherWaysAreOpen(Client):
    """Only `send` takes the marker out; whatever else the transport has is handed through."""

    class Write(WatchedWrite):
        def __getattr__(self, name):
            return getattr(self._stream, name)

    white_box = WhiteBox(request_ledger=watching_by(Write))
