"""The rounds of one call in the modern era: what a server asks before it finishes, and headers it refuses.

A server may answer `input_required` instead of a result: it asks something, and gives a state that goes back
with the answers, under a new id. And it may refuse a call whose mirrored headers do not fit its definition:
then the tools are listed once and the call is sent once more. Neither is a call sent twice,
for the server has not run it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from mcp_conformance_reference.errors import CallFailed, RequestFailed

__all__ = ["HEADER_MISMATCH", "Answers", "Rounds"]

HEADER_MISMATCH = -32020
"""The JSON-RPC code by which a modern server refuses headers that contradict the body."""

Answers = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers one question: gets its key and the request that it is (`method`, `params`), gives the result."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds before asking again a server that only gave a state


class Rounds:
    """Drives one call to its end.

    Args:
        ask: Sends one `tools/call` with these params and gives the raw result.
        relist: Lists the tools anew.
        answers: Answers questions; None where there is nobody to ask.
        limit: How many rounds a server may take.
    """

    def __init__(
        self,
        ask: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
        relist: Callable[[], Awaitable[Any]],
        answers: Answers | None,
        limit: int,
    ) -> None:
        self._ask = ask
        self._relist = relist
        self._answers = answers
        self._limit = limit

    async def drive(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """The raw result of the call of `name` with `params`.

        Returns:
            The last answer. An `input_required` that nobody can serve is given back as it is.

        Raises:
            CallFailed: The server goes on asking beyond the limit.
            RequestFailed, ConnectionLost: As for any request.
        """
        raw = await self.mended(params)
        pause = _FIRST_PAUSE
        for _ in range(self._limit):
            if not self.asks(raw) or self._answers is None:
                return raw
            questions = raw.get("inputRequests")
            if questions:
                pause = _FIRST_PAUSE
                more = {"inputResponses": await self.answered(questions)}
            else:
                await anyio.sleep(pause)
                pause, more = min(2 * pause, _LONGEST_PAUSE), {}
            if "requestState" in raw:
                more["requestState"] = raw["requestState"]
            raw = await self.mended({**params, **more})
        if self.asks(raw):
            raise CallFailed(name, f"the server still asks for input after {self._limit} rounds (max_rounds)")
        return raw

    def asks(self, raw: dict[str, Any]) -> bool:
        """Whether an answer is a question."""
        return bool(raw.get("resultType") == "input_required")

    async def answered(self, questions: dict[str, Any]) -> dict[str, Any]:
        """The answers to all questions of one round, by key; they are asked one after the other."""
        assert self._answers is not None
        return {key: await self._answers(key, question) for key, question in questions.items()}

    async def mended(self, params: dict[str, Any]) -> dict[str, Any]:
        """One request; once more, after a listing, where its headers were refused."""
        try:
            return await self._ask(params)
        except RequestFailed as error:
            if error.code != HEADER_MISMATCH:
                raise
        await self._relist()
        return await self._ask(params)
