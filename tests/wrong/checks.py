"""Wrong wrappers of CHK."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.definitions import definition_of
from mcp_conformance_reference.errors import CheckFailed, ListFailed, SchemaUnusable
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.checks import (
    ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING,
    BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL,
    CACHE_HIT_LEAVES_THE_CHECKS_ALONE,
    DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE,
    FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE,
    INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD,
    LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK,
    MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD,
    TOOLS_OF_EVERY_PAGE_ARE_CHECKED,
    VANISHED_TOOL_IS_NEVER_UNCHECKED,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


class Absorbing(ToolList):
    """A tool list whose schemas are a map beside it, filled as listings arrive, as in the SDKs."""

    def __init__(self, *args):
        super().__init__(*args)
        self.absorbed = {}

    def absorb(self, definitions):
        """Take the schemas of a listing."""
        self.absorbed = {known.name: known for known in definitions}


class ByTheMap(Caller):
    """Calls are judged by that map."""

    async def ready(self):
        connection = await self._dialler.connected()
        if self._tools.newest is None:
            await self._tools.current()
        return connection

    def definition_of_name(self, name):
        return self._tools.absorbed.get(name)

    def definition_of_handle(self, tool):
        return self._tools.absorbed.get(tool.name)


@breaks(INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD)
class ChecksNothing(Client):
    """What a tool declares is not read."""

    class check_type(OutputCheck):
        def judge(self, result):
            return result


@breaks(MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD)
class ChecksWhatIsThere(Client):
    """Only structured content that is there is looked at."""

    class check_type(OutputCheck):
        def fault(self, result):
            return super().fault(result) if result.has_structured_content else None


@breaks(ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING)
class FirstSchemaForEver(Client):
    """The schema of a name is compiled once."""

    class tool_list_type(Absorbing):
        def absorb(self, definitions):
            for known in definitions:
                self.absorbed.setdefault(known.name, known)

        def keep(self, flight, listing):
            self.absorb(listing.definitions)
            super().keep(flight, listing)

    caller_type = ByTheMap


@breaks(LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK)
class AbsorbsInArrivalOrder(Client):
    """An older listing that arrives late brings its schemas back."""

    caller_type = ByTheMap

    class tool_list_type(Absorbing):
        def write(self, flight, listing):
            if not self.overtaken(flight):
                self.absorb(listing.definitions)
            return super().write(flight, listing)


@breaks(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE)
class AbsorbsWhatItThrowsAway(Client):
    """The schemas are taken before it is asked whether the listing is of the past; then it fails for that."""

    caller_type = ByTheMap

    class tool_list_type(Absorbing):
        def write(self, flight, listing):
            self.absorb(listing.definitions)
            written = super().write(flight, listing)
            if written is None:
                raise ListFailed("tools/list", "the tools changed meanwhile")
            return written


@breaks(CACHE_HIT_LEAVES_THE_CHECKS_ALONE)
class HitBringsSchemasBack(Client):
    """A refresh passes the cache by; the next hit takes the schemas of what was kept."""

    caller_type = ByTheMap

    class tool_list_type(Absorbing):
        passing = False

        def write(self, flight, listing):
            self.absorb(listing.definitions)
            if self.passing and self.newest is not None:
                return self.listed
            return super().write(flight, listing)

        async def refresh(self):
            self.passing = True
            try:
                return await super().refresh()
            finally:
                self.passing = False

        def servable(self):
            kept = super().servable()
            if kept is not None:
                self.absorb(kept.all())
            return kept


@breaks(BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL)
class BadSchemaFailsTheListing(Client):
    """Schemas are compiled while listing; one that does not compile fails the listing."""

    class walk_type(Walk):
        def collect(self, pages):
            found = super().collect(pages)
            try:
                for definition in found[0]:
                    OutputCheck(definition)
            except SchemaUnusable as error:
                raise ListFailed("tools/list", str(error)) from error
            return found


@breaks(BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL)
class BadSchemaEndsTheChecks(Client):
    """Schemas are compiled while listing; those behind one that does not compile are not."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            kept, broken = [], False
            for definition in definitions:
                try:
                    OutputCheck(definition)
                except SchemaUnusable:
                    broken = True
                entry = definition.listed
                if broken:
                    entry.pop("outputSchema", None)
                kept.append(definition_of(entry))
            return tuple(kept), left_out


@breaks(TOOLS_OF_EVERY_PAGE_ARE_CHECKED)
class SchemasOfTheLastPage(Client):
    """Each page's schemas replace those of the page before."""

    class walk_type(Walk):
        def collect(self, pages):
            for page in pages[:-1]:
                for entry in page.entries:
                    entry.pop("outputSchema", None)
            return super().collect(pages)


@breaks(VANISHED_TOOL_IS_NEVER_UNCHECKED)
class UnknownNameIsNotChecked(Client):
    """A name that is not listed has no schema, so nothing is checked."""

    class caller_type(Caller):
        def definition_of_name(self, name):
            return self._tools.listed.definition(name)

        def definition_of_handle(self, tool):
            return self._tools.listed.definition(tool.name)


@breaks(FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE)
class FailedCheckIsRetried(Client):
    """Whatever goes wrong is tried again."""

    class caller_type(Caller):
        async def call(self, tool, arguments, *more):
            try:
                return await super().call(tool, arguments, *more)
            except CheckFailed:
                return await super().call(tool, arguments, *more)


@breaks(FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE)
class FailedCheckEndsTheConnection(Client):
    """An answer that breaks its schema is taken for a broken connection."""

    class caller_type(Caller):
        async def call(self, tool, arguments, *more):
            try:
                return await super().call(tool, arguments, *more)
            except CheckFailed:
                await self._dialler.reconnect()
                raise


@breaks(VANISHED_TOOL_IS_NEVER_UNCHECKED)
class NameThatIsGoneIsNotChecked(Client):
    """A tool as it was shown is refused when it is gone; by its name it is called without a check."""

    class caller_type(Caller):
        def definition_of_name(self, name):
            return self._tools.listed.definition(name)
