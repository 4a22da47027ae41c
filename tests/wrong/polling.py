"""Wrong wrappers of CCH that poll."""

from __future__ import annotations

from pytest_mcp_conformance.contract.caching import POLLING_SPREADS_AND_BACKS_OFF
from tests.wrong._polling import EVERY, Polls
from tests.wrong._wrong import breaks


@breaks(POLLING_SPREADS_AND_BACKS_OFF, polls=EVERY)
class PollsInStep(Polls):
    """The polls of all clients keep step."""

    def pause(self):
        return EVERY * 2 ** min(self.failures, 4)


@breaks(POLLING_SPREADS_AND_BACKS_OFF, polls=EVERY)
class PollsOnAndOn(Polls):
    """A server that fails is polled as often as one that is well."""

    def pause(self):
        return EVERY * self.chance.uniform(0.8, 1.2)


@breaks(POLLING_SPREADS_AND_BACKS_OFF, polls=EVERY)
class TriesAgainAtOnce(Polls):
    """A poll that failed is tried again after a second."""

    def pause(self):
        return self.chance.uniform(0.8, 1.2) * (1.0 if self.failures else EVERY)
