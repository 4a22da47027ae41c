"""One request of the client."""

from __future__ import annotations

import msgspec

__all__ = ["Request"]


class Request(msgspec.Struct, eq=False):
    """One request; a page and a call are requests of which more is known.

    Attributes:
        asked: Its number.
        method: Its method.
    """

    asked: int
    method: str
