"""Which calls go out, and what their callers are given."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.lines import Line
from pytest_mcp_conformance.history.model.places import Holder
from pytest_mcp_conformance.history.model.promises import Promises
from pytest_mcp_conformance.history.model.recent import forget_the_older_half
from pytest_mcp_conformance.history.model.request import Request

__all__ = ["Calls", "Sent"]

MOST_RESULTS = 4096
HEADERS_WERE_WRONG = -32020
"""The error after which a modern client may send a call once more."""

Key = tuple[str, str, str, str]


class Sent(Request, eq=False, gc=False):
    """One `tools/call` on the wire. It and its connection know of each other until `Line.end`.

    Attributes:
        key: What is called, of whom, by whom, with what.
        line: The connection.
        answered: The number of its answer, or of its end without one; 0 while it is out.
        at: When that was.
        read: The number at which its caller was given that; 0 where nobody was seen to be.
        result: What it was answered.
        ok: Whether that is a good result.
        excuses: Whether it may be sent again.
        lost: Whether no answer can come any more.
    """

    key: Key
    line: Line
    answered: int = 0
    at: float = 0.0
    read: int = 0
    result: str = ""
    ok: bool | None = None
    excuses: bool = False
    lost: bool = False


class _Op(msgspec.Struct, eq=False, gc=False):
    """One call of a user that is under way; nothing that it holds knows of it."""

    n: int
    at: float
    key: Key
    holder: Holder
    shown: int
    unpromised: bool
    sent_before: int
    sent: list[Sent] = []
    disturbed: bool = False


class Calls:
    """Follows calls, by what is called with which arguments.

    Args:
        promises: What the wrapper is held to.
        find: Takes what is found.
    """

    def __init__(self, promises: Promises, find: Callable[[Finding], None]) -> None:
        self._promises = promises
        self._find = find
        self._ops: dict[int, _Op] = {}
        self._by_key: dict[Key, list[_Op]] = {}
        self._loose: set[Key] = set()
        self._recent: dict[str, Sent] = {}
        self._sent = 0

    # -- at the wire ---------------------------------------------------------------------------------------

    def asked(self, entry: Entry, line: Line) -> Sent:
        """A call goes out."""
        self._sent += 1
        key = (entry.server, entry.principal, entry.tool, entry.arguments)
        sent = Sent(entry.n, "tools/call", key, line)
        ops = self._by_key.get(key)
        if ops:
            for op in ops:
                if not op.sent:
                    break
            else:
                op = ops[0]
                if len(ops) == 1:
                    self._again(entry, op, sent)
            op.sent.append(sent)
        return sent

    def _again(self, entry: Entry, op: _Op, sent: Sent) -> None:
        promises, before = self._promises, op.sent[-1]
        excused = (
            promises.resends_calls
            or promises.proxies
            or op.key in self._loose
            or any(each.excuses for each in op.sent)
            or (not sent.line.sessions and (before.lost or not before.answered or not sent.line.plain))
        )
        if not excused:
            text = f"the call #{op.n} of {entry.tool!r} went out at #{before.asked}, and again at #{entry.n}"
            self._find(Finding("call-sent-twice", "CALL-1", text, (op.n, before.asked, entry.n)))

    def answered(self, entry: Entry, sent: Sent) -> None:
        """A result has come."""
        sent.answered, sent.at, sent.result, sent.ok = entry.n, entry.at, entry.result, entry.ok
        sent.excuses = entry.ok is None
        recent = self._recent
        recent.pop(entry.result, None)
        recent[entry.result] = sent
        if len(recent) > MOST_RESULTS:
            forget_the_older_half(recent)

    def failed(self, entry: Entry, sent: Sent) -> None:
        """An error has come."""
        sent.answered, sent.at, sent.ok = entry.n, entry.at, False
        sent.excuses = entry.code == HEADERS_WERE_WRONG

    def lost(self, n: int, sent: Sent) -> None:
        """No answer will come."""
        sent.answered, sent.lost = n, True
        sent.ok = None

    # -- at the wrapper ------------------------------------------------------------------------------------

    def called(self, entry: Entry, holder: Holder) -> None:
        """A user calls a tool."""
        key = (entry.server, entry.principal, entry.tool, entry.arguments)
        unpromised = entry.shown > 0 and holder.shows_no_output_of(entry.tool, entry.shown)
        op = _Op(entry.n, entry.at, key, holder, entry.shown, unpromised, self._sent)
        self._by_key.setdefault(key, []).append(op)
        self._ops[entry.op] = op
        holder.crowded = holder.calling > 0
        holder.mixed = holder.mixed and holder.crowded
        holder.calling += 1

    def disturbed(self, holder: Holder) -> None:
        """A holder closes, or opens another connection: its calls may end by that."""
        for op in self._ops.values():
            if op.holder is holder:
                op.disturbed = True

    def given_up(self, number: int) -> None:
        """A call ended without an outcome."""
        op = self._end(number)
        if op is None:
            return
        op.holder.odd = True
        if any(sent.result in op.holder.suspects for sent in op.sent):
            self._now_sure(op.holder)

    def returned(self, entry: Entry) -> None:
        """A call ended."""
        op = self._end(entry.op)
        if op is None or op.holder.wild or self._promises.proxies:
            return
        if entry.outcome == "ok":
            if len(op.sent) == 1 and op.sent[0].result == entry.result != "" and op.holder.verbatim:
                op.sent[0].read = entry.n  # as a rule
            else:
                self._good(entry, op)
            return
        if any(sent.result in op.holder.suspects for sent in op.sent):
            self._now_sure(op.holder)
        if entry.outcome in ("raised", "refused") and len(op.sent) == 1:
            self._bad(entry, op, op.sent[0])

    def _end(self, number: int) -> _Op | None:
        op = self._ops.pop(number, None)
        if op is None:
            return None
        holder = op.holder
        holder.calling -= 1
        for sent in op.sent:
            if sent.lost or not sent.answered:
                holder.odd = True
            if holder.crowded and sent.ok is False and not sent.result:
                holder.mixed = True
        ops = self._by_key[op.key]
        ops.remove(op)
        if not ops:
            del self._by_key[op.key]
        if not op.sent and len(self._loose) < MOST_RESULTS:
            self._loose.add(op.key)  # it may still go out, when nobody waits for it
        return op

    def _good(self, entry: Entry, op: _Op) -> None:
        result, holder = entry.result, op.holder
        if not result:
            return
        own = {sent.result for sent in op.sent if sent.result}
        if result in own:
            if len(op.sent) == 1:
                op.sent[0].read = entry.n
            if holder.verbatim is None:
                holder.verbatim = True
                self._now_sure(holder)
            return
        other = self._recent.get(result)
        if not op.sent:
            if other is not None and other.key == op.key and self._sent == op.sent_before:
                text = (
                    f"the call #{op.n} of {entry.tool!r} sent nothing, and returned at #{entry.n} what "
                    f"#{other.answered} had answered to an equal one"
                )
                self._find(Finding("call-not-sent", "CALL-1", text, (other.answered, op.n, entry.n)))
            return
        if other is not None and own and holder.verbatim is not False and other.key[2:] != op.key[2:]:
            text = (
                f"the call #{op.n} of {entry.tool!r} returned at #{entry.n} what #{other.answered} had "
                f"answered to another one, #{other.asked}"
            )
            proof = tuple(sorted({op.n, op.sent[0].asked, other.asked, other.answered, entry.n}))
            holder.suspects[result] = Finding("answer-of-another-call", "CALL-3", text, proof)
            if holder.verbatim or len(holder.suspects) > 1:
                self._now_sure(holder)
        elif other is None:
            holder.verbatim = False

    def _now_sure(self, holder: Holder) -> None:
        """What calls give is what was on the wire, and who should have been given it has nothing."""
        for suspect in holder.suspects.values():
            self._find(suspect)
        holder.suspects.clear()

    def _bad(self, entry: Entry, op: _Op, sent: Sent) -> None:
        if not sent.ok or op.disturbed or sent.line.closed or not self._in_time(op, sent):
            return
        known = [*op.holder.place.forms.get(entry.tool, ())]
        if not known or op.holder.place.blurred or len(sent.line.place.forms.get(entry.tool, ())) == 0:
            return
        promising = [each for each in known if each.listed.output]
        proof: tuple[int, ...] = (op.n, sent.asked, sent.answered, entry.n)
        if not promising:
            text = (
                f"the call #{op.n} of {entry.tool!r} was answered well at #{sent.answered}, and its caller "
                f"got {entry.error or 'a refusal'} at #{entry.n}"
            )
            self._find(Finding("result-lost", "CALL-2", text, proof))
            return
        newest = max(known, key=lambda each: each.pages[-1].answered)
        listed = newest.pages[-1]
        if newest.listed.output or not op.unpromised or listed.answered > op.shown:
            return
        if op.holder.unsure or op.holder.place.doubt > op.n:  # it may be about something else
            return
        text = (
            f"the call #{op.n} of {entry.tool!r} was answered well at #{sent.answered}, and refused at "
            f"#{entry.n}, though the listing #{listed.answered} gives the tool no output schema"
        )
        self._find(Finding("judged-by-another-listing", "CHK-3", text, (listed.answered, *proof)))

    def _in_time(self, op: _Op, sent: Sent) -> bool:
        """Whether the answer came before any limit of the wrapper's can have struck."""
        limit = self._promises.own_timeout
        return sent.at == op.at or (limit is not None and sent.at < op.at + limit)
