"""Wrong wrappers over streamable HTTP that mistake what calls repeat in headers."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.errors import ListFailed, RequestFailed
from mcp_conformance_reference.overhttp import HttpClient
from mcp_conformance_reference.rounds import HEADER_MISMATCH, Rounds
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.calls import (
    HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY,
    HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH,
)
from pytest_mcp_conformance.contract.tools import INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL
from tests.wrong._client import Client
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks


@breaks(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY)
class StopsAtTheMismatch(Client):
    """A call that is refused for its headers has failed."""

    class rounds_type(Rounds):
        async def mended(self, params):
            return await self._ask(params)


@breaks(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY)
class BodyOfTheErrorIsNotRead(ByHttp):
    """A request that is answered with 400 has failed, and why is not looked at."""

    class client_type(HttpClient):
        def error_of(self, request, response, body):
            return super().error_of(request, response, b"")


@breaks(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY)
class SendsAgainWithoutListing(Client):
    """A call that is refused for its headers is sent once more, as it was."""

    class rounds_type(Rounds):
        async def mended(self, params):
            try:
                return await self._ask(params)
            except RequestFailed as error:
                if error.code != HEADER_MISMATCH:
                    raise
            return await self._ask(params)


@breaks(HEADER_MISMATCH_IS_ANSWERED_BY_ONE_RETRY)
class MismatchHasNoEnd(Client):
    """As often as a call is refused for its headers, the tools are listed and it is sent again."""

    class rounds_type(Rounds):
        async def mended(self, params):
            for _ in range(9):
                try:
                    return await self._ask(params)
                except RequestFailed as error:
                    if error.code != HEADER_MISMATCH:
                        raise
                await self._relist()
            return await self._ask(params)


@breaks(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH)
class RawPathSkipsHeaders(Client):
    """A call that carries `_meta` goes out as a request of its own, past what adds the headers."""

    class caller_type(Caller):
        async def send_params(self, connection, plan, params):
            known = connection.input_schema_of
            if plan.meta is not None:
                connection.input_schema_of = lambda name: None
            try:
                return await super().send_params(connection, plan, params)
            finally:
                connection.input_schema_of = known


@breaks(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH)
class AnnotationsOfTheLastPage(Client):
    """Each page puts its annotations in the place of those before."""

    class tool_list_type(ToolList):
        def input_schema_of(self, name):
            return super().input_schema_of(name) if name == self.listed.all()[-1].name else None


@breaks(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH)
class AnnotationsOfTheFirstListing(Client):
    """What a tool's headers are called is read when it is listed for the first time."""

    def enter(self):
        first = {}

        class ByName(ToolList):
            def input_schema_of(self, name):
                return first.setdefault(name, super().input_schema_of(name))

        self.tool_list_type = ByName


@breaks(HEADERS_MIRROR_THE_CALL_ON_EVERY_PATH)
class NullIsAText(ByHttp):
    """An argument that is null has a header like any other."""

    class client_type(HttpClient):
        async def send(self, request, **how):
            if b'"zone":null' in request.content:
                request.headers["mcp-param-zone"] = "null"
            return await super().send(request, **how)


@breaks(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL)
class AnyAnnotationWillDo(Client):
    """How arguments are annotated is not looked at."""

    class walk_type(Walk):
        def header_fault(self, known):
            return None


@breaks(INVALID_HEADER_ANNOTATION_DROPS_ONLY_ITS_TOOL)
class OneBadAnnotationFailsTheListing(Client):
    """A listing with an annotation that cannot be used has failed."""

    class walk_type(Walk):
        def header_fault(self, known):
            fault = super().header_fault(known)
            if fault is not None:
                raise ListFailed("tools/list", fault)
            return None
