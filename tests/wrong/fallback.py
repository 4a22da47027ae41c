"""Wrong wrappers of CONN that mistake the era of a server."""

from __future__ import annotations

from pytest_mcp_conformance.contract.connections import FALLBACK_FITS_ANY_OLD_SERVER
from tests.wrong._wire import ByWire, Wire
from tests.wrong._wrong import breaks

REFUSED = -32022
"""A modern server that does not speak the version: whoever hears this does not fall back."""


class Probing(Wire):
    """Knows which answer belongs to the probe; by itself it breaks nothing."""

    probe = None

    async def out(self, frame):
        if frame.get("method") == "server/discover":
            self.probe = frame["id"]
        await self.send(frame)

    async def back(self, frame):
        if "error" in frame and frame.get("id") == self.probe:
            return [{**frame, "error": self.heard(frame["error"])}]
        return [frame]

    def heard(self, error):
        """What the client is told of the error of its probe."""
        return error


@breaks(FALLBACK_FITS_ANY_OLD_SERVER)
class FallsBackOnOneCode(ByWire):
    """Only an unknown method shows an older server."""

    class wire_type(Probing):
        def heard(self, error):
            return error if error["code"] == -32601 else {**error, "code": REFUSED}


@breaks(FALLBACK_FITS_ANY_OLD_SERVER)
class FallsBackOnAnyCode(ByWire):
    """Whatever answers a probe with an error is an older server."""

    class wire_type(Probing):
        def heard(self, error):
            return {"code": -32601, "message": error["message"]}


@breaks(FALLBACK_FITS_ANY_OLD_SERVER)
class SilenceIsWaitedOut(ByWire):
    """A server that does not answer a probe is sent nothing else."""

    class wire_type(Probing):
        answered = False

        async def out(self, frame):
            if self.probe is None or self.answered:
                await super().out(frame)

        async def back(self, frame):
            self.answered = self.answered or frame.get("id") == self.probe
            return await super().back(frame)
