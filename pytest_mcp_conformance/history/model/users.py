"""What users do, entry by entry: who is there, which verbs are under way."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.calling import Calls
from pytest_mcp_conformance.history.model.listing import Listings
from pytest_mcp_conformance.history.model.places import Holder, Place
from pytest_mcp_conformance.history.model.promises import Promises

__all__ = ["Users"]

CHANGES_CONNECTION = frozenset({"close", "connect", "reconnect", "set_principal"})


class Users:
    """Reads the entries of the wrapper.

    Args:
        place_of: The place of an entry.
        listings: Follows the lists.
        calls: Follows the calls.
        promises: What the wrapper is held to.
        find: Takes what is found.
    """

    def __init__(
        self,
        place_of: Callable[[Entry], Place],
        listings: Listings,
        calls: Calls,
        promises: Promises,
        find: Callable[[Finding], None],
    ) -> None:
        self._place_of = place_of
        self._listings = listings
        self._calls = calls
        self._promises = promises
        self._find = find
        self._holders: dict[int, Holder] = {}
        self._began: dict[int, Entry] = {}
        self._on_a_dead_one: dict[int, int] = {}
        self.last_left = 0
        self.handlers: dict[str, Callable[[Entry], None]] = {
            "entered": self._entered,
            "left": self._left,
            "wanted": self._wanted,
            "served": self._served,
            "called": self._called,
            "returned": self._returned,
            "refused": self._returned,
            "began": self._verb_began,
            "ended": self._verb_ended,
            "bound": self._verb_ended,
            "invalidated": self._verb_ended,
            "refreshed": self._verb_ended,
            "raised": self._raised,
            "abandoned": self._abandoned,
        }

    @property
    def all_gone(self) -> bool:
        """Whether there were users, and all of them have left."""
        return self.last_left > 0 and not self._holders

    def _holder(self, entry: Entry) -> Holder:
        holder = self._holders.get(entry.who)
        if holder is None:
            place = self._place_of(entry)
            holder = self._holders[entry.who] = place.holders[entry.who] = Holder(entry.who, place)
            place.many = place.many or place.entered > 0
            place.entered += 1
        return holder

    def _entered(self, entry: Entry) -> None:
        self._holder(entry)

    def _left(self, entry: Entry) -> None:
        holder = self._holders.pop(entry.who, None)
        if holder is not None:
            self.last_left = entry.n
            holder.place.holders.pop(entry.who, None)
            self._calls.disturbed(holder)

    def _wanted(self, entry: Entry) -> None:
        holder = self._holders.get(entry.who) or self._holder(entry)
        self._listings.wanted(entry, holder)
        if holder.place.dead:
            self._begins(entry, holder)

    def _served(self, entry: Entry) -> None:
        self._on_a_dead_one.pop(entry.op, None)
        self._listings.served(entry)

    def _called(self, entry: Entry) -> None:
        holder = self._holders.get(entry.who) or self._holder(entry)
        self._calls.called(entry, holder)
        if holder.place.dead:
            self._begins(entry, holder)

    def _returned(self, entry: Entry) -> None:
        if entry.outcome == "raised":
            self._ends_badly(entry)
        elif self._on_a_dead_one:
            self._on_a_dead_one.pop(entry.op, None)
        self._calls.returned(entry)

    def _verb_began(self, entry: Entry) -> None:
        holder = self._holder(entry)
        self._began[entry.op] = entry
        if entry.verb in CHANGES_CONNECTION:
            self._calls.disturbed(holder)
            holder.wild = holder.wild or entry.verb == "set_principal"

    def _verb_ended(self, entry: Entry) -> None:
        began = self._began.pop(entry.op, None)
        if began is None:
            return
        holder = self._holder(entry)
        if entry.verb == "invalidate":
            holder.invalidated, holder.said = (began.n, entry.n), True
        elif entry.verb == "reconnect":
            holder.reconnected = (began.n, entry.n)
        elif entry.verb == "refresh":
            holder.refreshed, holder.said = (began.n, entry.n, began.rest), True

    def _raised(self, entry: Entry) -> None:
        self._began.pop(entry.op, None)
        self._listings.ended(entry.op)
        if entry.verb == "connect":
            self._place_of(entry).doubt = entry.n
            return
        self._calls.given_up(entry.op)
        if entry.verb == "list_tools":
            self._ends_badly(entry)

    def _abandoned(self, entry: Entry) -> None:
        self._began.pop(entry.op, None)
        self._on_a_dead_one.pop(entry.op, None)
        self._listings.ended(entry.op)
        self._calls.given_up(entry.op)

    # -- on a dead connection ------------------------------------------------------------------------------

    def _begins(self, entry: Entry, holder: Holder) -> None:
        place = holder.place
        dead = place.dead
        if place.many or holder.wild or not self._promises.redials:
            return
        if dead <= entry.rest or dead == holder.knows:
            self._on_a_dead_one[entry.op] = dead

    def _ends_badly(self, entry: Entry) -> None:
        dead = self._on_a_dead_one.pop(entry.op, 0)
        holder = self._holders.get(entry.who)
        if holder is None:
            return
        if holder.place.dead:
            holder.knows = holder.place.dead
        if not dead:
            return
        if holder.place.dead != dead:
            holder.failures = ()
            return
        holder.failures = (*(n for n in holder.failures if n > dead), entry.n)
        if len(holder.failures) == 2:
            text = f"two verbs failed on a connection that had ended at #{dead}, and nobody dialled"
            proof = (dead, *holder.failures)
            self._find(Finding("lease-of-a-dead-connection", "CONN-6", text, proof))
