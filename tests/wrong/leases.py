"""Wrong wrappers of OPN."""

from __future__ import annotations

from mcp_conformance_reference.leases import Lease, ListingRecords, ListingUnusable, ListingWriter, Mounted
from mcp_conformance_reference.pool import ConnectionPool
from mcp_conformance_reference.pooled import PooledConnection

from pytest_mcp_conformance.adapters._reference import WhiteBox
from pytest_mcp_conformance.contract.leases import (
    APPLY_GETS_ALL_THAT_IS_MOUNTED,
    APPLY_GETS_NOTHING_UNMOUNTED,
    EARLIER_LISTING_OVERWRITES_NOTHING,
    FAILING_APPLY_COSTS_NOBODY_ELSE,
    GONE_NAMES_ARE_GONE_FROM_THE_CHECKS,
    LATER_LISTING_DECIDES_THE_MEMBERSHIP,
    MEMBERSHIP_IS_THE_LEGS_OWN,
    NEW_CONNECTION_STARTS_EMPTY,
    ORDER_IS_KEPT_FOR_EACH_TOOL,
    RELEASE_REWRITES_FROM_THE_SAME_RECORDS,
    RETAINED_NAMES_WRITE_NO_RECORD,
    UNWRITTEN_LISTING_CHANGES_NOTHING,
    VERSION_IS_THE_ORDER_OF_OPENING,
    WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING,
    WRITER_USED_TWICE_IS_NO_NEWER,
)
from pytest_mcp_conformance.contract.pool import LAST_RELEASE_CLOSES, ONLY_THE_CONNECTION_IS_SHARED
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def records(kind, **more):
    """The white box of a pool whose connections keep their listings so."""
    connection = type("Connection", (PooledConnection,), {"records_type": kind, **more})
    return WhiteBox(pool=type("Pool", (ConnectionPool,), {"connection_type": connection}))


@breaks(VERSION_IS_THE_ORDER_OF_OPENING)
class VersionIsTheOrderOfAnswers(Client):
    """A listing gets its version when its answer is written."""

    class kept(ListingRecords):
        def write(self, lease, version, *rest):
            self._opened += 1
            super().write(lease, self._opened, *rest)

    white_box = records(kept)


@breaks(VERSION_IS_THE_ORDER_OF_OPENING)
class EachLegCounts(Client):
    """Versions are counted by each leg."""

    class kept(ListingRecords):
        def open(self, lease):
            lease.opened = getattr(lease, "opened", 0) + 1
            return ListingWriter(self, lease, lease.opened)

    white_box = records(kept)


@breaks(EARLIER_LISTING_OVERWRITES_NOTHING)
class LastWriteWins(Client):
    """What is written last is the record."""

    class kept(ListingRecords):
        def record(self, version, listed):
            before = {}
            for name, tool in listed.items():
                before[name] = self._records.pop(name, None)
                before.update(super().record(version, {name: tool}))
            return before

    white_box = records(kept)


@breaks(ORDER_IS_KEPT_FOR_EACH_TOOL)
class LateListingIsDropped(Client):
    """A listing that was opened before one that is written already is dropped whole."""

    class kept(ListingRecords):
        newest = 0

        def record(self, version, listed):
            self.newest, before = max(self.newest, version), self.newest
            return super().record(version, listed) if version >= before else {}

    white_box = records(kept)


@breaks(RETAINED_NAMES_WRITE_NO_RECORD)
class RetainedIsRecorded(Client):
    """What the leg kept of a tool counts as listed anew."""

    class kept(ListingRecords):
        def write(self, lease, version, tools, apply, retained):
            super().write(lease, version, tools, apply, ())

    white_box = records(kept)


@breaks(RETAINED_NAMES_WRITE_NO_RECORD)
class RetainedIsStampedAnew(Client):
    """The record of a retained name stays, at the new version."""

    class kept(ListingRecords):
        def write(self, lease, version, tools, apply, retained):
            for name in retained:
                if name in self._records:
                    self._records[name] = type(self._records[name])(version, self._records[name].tool)
            super().write(lease, version, tools, apply, retained)

    white_box = records(kept)


@breaks(RETAINED_NAMES_WRITE_NO_RECORD)
class RetainedIsUnmounted(Client):
    """A retained name is left out of the membership as well."""

    class kept(ListingRecords):
        def write(self, lease, version, tools, apply, retained):
            returned = [tool for tool in tools if self.name_of(tool) not in retained]
            super().write(lease, version, returned, apply, retained)

    white_box = records(kept)


@breaks(MEMBERSHIP_IS_THE_LEGS_OWN)
class OneMembershipForAll(Client):
    """What the last listing mounted is what the connection mounts; a first listing adds to it."""

    class kept(ListingRecords):
        def mount(self, lease, mounted):
            if lease in self._mounted:
                self._mounted.clear()
            super().mount(lease, mounted)

    white_box = records(kept)


@breaks(APPLY_GETS_ALL_THAT_IS_MOUNTED)
class OwnToolsOnly(Client):
    """A listing writes the tools of its own leg."""

    class kept(ListingRecords):
        def write(self, lease, version, tools, apply, retained):
            tools = list(tools)
            names = {self.name_of(tool) for tool in tools}

            def own(known):
                apply([tool for tool in known if self.name_of(tool) in names])

            super().write(lease, version, tools, own, retained)
            self._apply = apply

    white_box = records(kept)


@breaks(APPLY_GETS_NOTHING_UNMOUNTED)
class EverythingEverListed(Client):
    """Everything that was ever listed is written."""

    class kept(ListingRecords):
        def current(self):
            return [record.tool for record in self._records.values()]

    white_box = records(kept)


@breaks(APPLY_GETS_NOTHING_UNMOUNTED)
class MembershipOnlyGrows(Client):
    """What a leg mounted once it mounts for good."""

    class kept(ListingRecords):
        def mount(self, lease, mounted):
            held = self._mounted.get(lease)
            names = mounted.names if held is None else mounted.names | held.names
            super().mount(lease, Mounted(mounted.version, names))

    white_box = records(kept)


@breaks(RELEASE_REWRITES_FROM_THE_SAME_RECORDS)
class ReleaseWritesNothing(Client):
    """A leg leaves, and its tools stay written until the next listing."""

    class kept(ListingRecords):
        def leave(self, lease):
            self._mounted.pop(lease, None)

    white_box = records(kept)


@breaks(RELEASE_REWRITES_FROM_THE_SAME_RECORDS)
class ReleaseSetsVersionsBack(Client):
    """After a release every version is like the first one."""

    class kept(ListingRecords):
        def leave(self, lease):
            super().leave(lease)
            self._records = {name: type(each)(0, each.tool) for name, each in self._records.items()}

    white_box = records(kept)


@breaks(RELEASE_REWRITES_FROM_THE_SAME_RECORDS)
class ReleaseDropsRecords(Client):
    """A leg that leaves takes the records of its names along."""

    class kept(ListingRecords):
        def leave(self, lease):
            mounted = self._mounted.get(lease)
            super().leave(lease)
            left = {self.name_of(tool) for tool in self.current()}
            for name in mounted.names - left if mounted is not None else ():
                self._records.pop(name, None)

    white_box = records(kept)


@breaks(UNWRITTEN_LISTING_CHANGES_NOTHING)
class OpeningClears(Client):
    """A listing that is opened clears the checks, for they will be written anew."""

    class kept(ListingRecords):
        def open(self, lease):
            if lease in self._mounted:
                self._apply([])
            return super().open(lease)

    white_box = records(kept)


@breaks(UNWRITTEN_LISTING_CHANGES_NOTHING)
class OpeningUnmounts(Client):
    """A leg that opens a listing mounts nothing until the answer is there."""

    class kept(ListingRecords):
        def open(self, lease):
            self._mounted.pop(lease, None)
            return super().open(lease)

    white_box = records(kept)


@breaks(WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING)
class GhostsMount(Client):
    """A writer writes for its lease, whether or not that is held."""

    class kept(ListingRecords):
        def open(self, lease):
            return Ghost(self, lease, super().open(lease).version)

    white_box = records(kept)


class Ghost(ListingWriter):
    def __call__(self, tools, apply, retained=frozenset()):
        self._records.write(self._lease, self.version, tools, apply, retained)


@breaks(WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING)
class GhostsRecord(Client):
    """A writer of a lease that is gone mounts nothing, and still writes its records."""

    class kept(ListingRecords):
        def open(self, lease):
            return RecordingGhost(self, lease, super().open(lease).version)

    white_box = records(kept)


class RecordingGhost(ListingWriter):
    def __call__(self, tools, apply, retained=frozenset()):
        tools = list(tools)
        super().__call__(tools, apply, retained)
        if self._lease.released:
            self._records.record(self.version, {self._records.name_of(tool): tool for tool in tools})


@breaks(FAILING_APPLY_COSTS_NOBODY_ELSE)
class ChecksStayCleared(Client):
    """What `apply` raises comes out, and that is that."""

    class kept(ListingRecords):
        def applies(self, tool, apply):
            raise ListingUnusable([self.name_of(tool)], ValueError("no check can be made of it"))

    white_box = records(kept)


@breaks(FAILING_APPLY_COSTS_NOBODY_ELSE)
class NobodyIsTold(Client):
    """The tools that cannot be written are left out in silence."""

    class kept(ListingRecords):
        def write(self, *args):
            try:
                super().write(*args)
            except ListingUnusable:
                return

    white_box = records(kept)


@breaks(FAILING_APPLY_COSTS_NOBODY_ELSE)
class WholeListingIsDropped(Client):
    """A listing with a tool that cannot be written is not recorded at all."""

    class kept(ListingRecords):
        def applies(self, tool, apply):
            return False

    white_box = records(kept)


@breaks(WRITER_USED_TWICE_IS_NO_NEWER)
class SecondUseIsNewer(Client):
    """A writer that is used again gets the next version."""

    class kept(ListingRecords):
        def open(self, lease):
            return Again(self, lease, super().open(lease).version)

    white_box = records(kept)


class Again(ListingWriter):
    used = False

    def __call__(self, tools, apply, retained=frozenset()):
        if self.used:
            self._records._opened += 1
            self.version = self._records._opened
        self.used = True
        super().__call__(tools, apply, retained)


@breaks(NEW_CONNECTION_STARTS_EMPTY)
class RecordsAreTheKeys(Client):
    """What was listed is kept under the key."""

    class connection(PooledConnection):
        def __init__(self, key, dial, pool, *rest):
            super().__init__(key, dial, pool, *rest)
            self.records = pool.__dict__.setdefault("records", {}).setdefault(key, self.records)

    white_box = WhiteBox(pool=type("Pool", (ConnectionPool,), {"connection_type": connection}))


@breaks(LATER_LISTING_DECIDES_THE_MEMBERSHIP)
class LastAnswerMounts(Client):
    """Whichever answer comes last decides what the leg mounts."""

    class kept(ListingRecords):
        def mount(self, lease, mounted):
            self._mounted[lease] = mounted

    white_box = records(kept)


@breaks(GONE_NAMES_ARE_GONE_FROM_THE_CHECKS)
class DefinitionsOnlyGrow(Client):
    """A leg judges by what was written once, whoever mounts it now."""

    class lease(Lease):
        def definition(self, name):
            records = self._connection.records
            return next((each.tool for known, each in records._records.items() if known == name), None)

    white_box = records(ListingRecords, lease_type=lease)


@breaks(LAST_RELEASE_CLOSES)
class ApplyStopsTheRelease(Client):
    """What the writing of the checks raises at a release ends the release."""

    class kept(ListingRecords):
        def leave(self, lease):
            self._mounted.pop(lease, None)
            self._apply(self.current())

    white_box = records(kept)


@breaks(ONLY_THE_CONNECTION_IS_SHARED)
class ReleasedLeaseStillJudges(Client):
    """A lease that was released goes on giving the definitions of the others."""

    class lease(Lease):
        def definition(self, name):
            known = self._connection.records
            return next((tool for tool in known.current() if known.name_of(tool) == name), None)

    white_box = records(ListingRecords, lease_type=lease)


@breaks(FAILING_APPLY_COSTS_NOBODY_ELSE)
class TellsByAccident(Client):
    """The leg that brought the schema is told by an error about something else."""

    class kept(ListingRecords):
        def write(self, lease, version, tools, apply, retained):
            try:
                super().write(lease, version, tools, apply, retained)
            except ListingUnusable as unusable:
                self.reason = unusable.reason

    white_box = records(kept)
