"""Secrets stay in the process: their values are taken out of whatever is told of a play."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from pytest_mcp_conformance.history.event import Event

__all__ = ["REDACTED", "Secrets"]

REDACTED = "[redacted]"
"""What stands in the place of a secret."""

_VARIABLES = re.compile(r"token|secret|passw|credential|api_?key|private_?key|authorization", re.IGNORECASE)
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key"})
_SHORTEST = 8
_WORD = re.compile(rf"[^\s;,=\"']{{{_SHORTEST},}}")
_MADE_UP = "scripted-"


class Secrets:
    """The secrets that a play could tell: of the environment, and of the headers that it saw.

    A value of fewer than eight characters is left alone, since it would be found in ordinary words; so are
    the credentials that the kit makes up.

    Args:
        events: The history, with its headers.
        environment: Variables; those whose names say so hold a secret.
    """

    def __init__(self, events: Iterable[Event] = (), environment: Mapping[str, str] = os.environ) -> None:
        found = {value for name, value in environment.items() if _VARIABLES.search(name)}
        for event in events:
            for name, value in event.headers.items():
                if name.lower() in _HEADERS:
                    found |= {value, *_WORD.findall(value)}
        kept = {value for value in found if len(value) >= _SHORTEST and _MADE_UP not in value}
        longest_first = sorted(kept, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if kept else None

    def out_of(self, text: str) -> str:
        """The text without them."""
        return self._pattern.sub(REDACTED, text) if self._pattern is not None else text
