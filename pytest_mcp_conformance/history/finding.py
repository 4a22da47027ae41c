"""What a history proves against a wrapper."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One fault that a history proves."""

    name: str
    """As in `stale-after-notice`: lower case, hyphens."""
    rule: str
    """As in `CCH-12`."""
    text: str
    """One sentence with the values."""
    proof: tuple[int, ...]
    """The numbers of the two to five entries that prove it, in order."""
    kind: str = "fault"
    """Or `unknown`: the history does not tell."""
