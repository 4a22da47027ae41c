"""The requests that are out on one connection: the id of each, whether it is answered, how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from mcp_conformance_reference.errors import ClientError, ConnectionLost, RequestFailed
from mcp_conformance_reference.progress import Progress
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.sdk import Frame, SdkSession, is_session_lost, rpc_error
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.taps import HungUp
from mcp_conformance_reference.tasks import Asides

__all__ = ["Exchange"]


class Exchange:
    """The requests of one connection, and what is done beside them.

    Args:
        settings: The client's measures.
        session: Gives the SDK session, once there is one.
        on_lost: Called when an answer says that the server has forgotten the session.

    Attributes:
        over: Why nothing is sent any more, None while it is.
        asides: What is done beside the requests.
        progress: Who hears of the progress of which call.
    """

    def __init__(
        self, settings: Settings, session: Callable[[], SdkSession], on_lost: Callable[[BaseException], None]
    ) -> None:
        self.over: ConnectionLost | None = None
        self._settings = settings
        self._session = session
        self._on_lost = on_lost
        self._requests: set[Request] = set()
        self._by_id: dict[str, Request] = {}
        self._ending = False
        self._ended = anyio.Event()
        self.asides = Asides()
        self.progress = Progress()

    # -- asking --------------------------------------------------------------------------------------------

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its raw result.

        Raises:
            ConnectionLost: The connection ended before the answer.
            RequestFailed: The server answered with an error.
        """
        request = self.begin(self._settings.parts.request_type, method, params)
        try:
            return await request.wait()
        except Exception as error:
            if self._ending and self.over is None:
                await self._ended.wait()
            explained = self.explain(method, error)
            if explained is error:
                raise
            raise explained from error

    def begin(self, kind: type[Request], method: str, params: dict[str, Any]) -> Request:
        """Start one request in a task of its own.

        Raises:
            ConnectionLost: The connection is closed already.
        """
        if self.over is not None:
            raise self.over_again()
        request = kind(self._session(), method, params, self.given_up, self._forget)
        self._requests.add(request)
        request.start()
        return request

    def explain(self, method: str, error: Exception) -> Exception:
        """What a failure of a request is called by this client."""
        said = rpc_error(error)
        if said is not None and is_session_lost(said):
            self._on_lost(error)
        if isinstance(error, ClientError):
            return error
        if self.over is not None:
            return self.over_again()
        if said is not None:
            return RequestFailed(method, said.message, code=said.code, data=said.data)
        return RequestFailed(method, repr(error))

    # -- giving up -----------------------------------------------------------------------------------------

    def given_up(self, request: Request) -> None:
        """Tell the server that nobody waits for a request that it still works on."""
        self.asides.start(lambda: self.say_cancelled(request), f"mcp cancel {request.id}")

    async def say_cancelled(self, request: Request) -> None:
        """Write the cancellation of one open request, in bounded time; a peer that is gone needs none."""
        with anyio.move_on_after(self._settings.close_limit):
            try:
                await self._session().tell(
                    "notifications/cancelled", {"requestId": request.id, "reason": "the caller gave up"}
                )
            except HungUp:
                return

    def end(self, why: ConnectionLost) -> None:
        """Nothing is sent any more, and requests that wait for an answer end with an error now.

        An answer that has been heard is handed over, whatever came behind it.
        """
        if self.over is None:
            self.over = why
        self._ended.set()
        for request in list(self._requests):
            if not request.answered:
                request.fail(self.over_again())
        self.asides.fail(self.over_again())

    def ending(self, limit: float) -> None:
        """The end has begun, and its cause is known soon: errors wait for it, `limit` seconds at most."""

        async def no_longer() -> None:
            await anyio.sleep(limit)
            self._on_lost(TimeoutError("its transport broke, and did not say why"))

        self._ending = True
        self.asides.start(no_longer, "mcp end")

    def over_again(self) -> ConnectionLost:
        """A fresh error that says why nothing is sent: one exception object is raised in one task only."""
        assert self.over is not None
        return type(self.over)(*self.over.args)

    # -- heard on the wire, in its order -------------------------------------------------------------------

    def leaving(self, frame: Frame) -> None:
        """The SDK is about to write a message."""
        request = Request.current()
        if request is not None and frame.method is not None and frame.id is not None:
            request.leaving(frame.id)
            self._by_id[str(frame.id)] = request  # as the SDKs do: "7" answers 7

    def departed(self, frame: Frame) -> None:
        """A message is written."""
        if frame.method is not None and (request := self._by_id.get(str(frame.id))) is not None:
            request.departed()

    def answered(self, frame: Frame) -> None:
        """An answer was read; one that nobody waits for any more is nobody's."""
        if (request := self._by_id.get(str(frame.id))) is not None:
            request.answer_heard(frame)

    def _forget(self, request: Request) -> None:
        self._requests.discard(request)
        if request.id is not None:
            self._by_id.pop(str(request.id), None)
