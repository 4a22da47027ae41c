"""Wrong wrappers of CALL that wait for ever for what is never answered."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

from pytest_mcp_conformance.contract.calls import EVERY_REQUEST_HAS_A_LIMIT
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(EVERY_REQUEST_HAS_A_LIMIT, own_timeout=None)
class NobodyHasSetALimit(Client):
    """There is no limit of time where the user sets none."""

    def enter(self):
        self._settings = replace(self._settings, timeout=None)


@breaks(EVERY_REQUEST_HAS_A_LIMIT, own_timeout=None)
class CallsTakeTheirTime(Client):
    """A limit is for what prepares a call; the call itself may take as long as it likes."""

    @contextmanager
    def verb(self, verb, timeout=None):
        bounded, settings = verb != "call_tool", self._settings
        if not bounded:
            self._settings = replace(settings, timeout=None)
        with super().verb(verb, timeout) as life:
            self._settings = settings
            yield life
