"""Digests in the place of payloads: equal for equal payloads of one history, and nobody can guess from what.

A plain hash of a small secret is no secret: all four-digit numbers are hashed in a moment. So each history
has a key of its own that is written nowhere. The price: digests of two files are not comparable, unless both
were recorded with one key that was given; `Header.key` is equal then.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history.plain import jsonlike

__all__ = ["Digests"]

_BYTES = 8
_LONGEST = 64


class Digests:
    """Makes the digests of one history.

    Args:
        key: The key, of 1 to 64 bytes; by default a new one that nobody learns.

    Attributes:
        name: What tells this key from another, and does not show it.

    Raises:
        UsageError: A key of another length.
    """

    def __init__(self, key: bytes | None = None) -> None:
        if key is not None and not 1 <= len(key) <= _LONGEST:
            raise UsageError(f"a key of {len(key)} bytes: digests are made with 1 to {_LONGEST} bytes")
        self._key = secrets.token_bytes(16) if key is None else key
        self.name = self("the key")

    def __call__(self, value: Any) -> str:
        """The digest of any JSON data: 16 hexadecimal digits."""
        text = json.dumps(jsonlike(value), sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), key=self._key, digest_size=_BYTES).hexdigest()
