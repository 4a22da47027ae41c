"""What a history proves against a wrapper."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One fault that a history proves.

    Attributes:
        name: Which fault, as `stale-after-notice`.
        rule: The id of the rule that it breaks.
        text: What was seen, in one sentence with the values.
        proof: The numbers of the two to five entries that prove it, in order.
        kind: `fault`; `unknown` where the history does not tell.
    """

    name: str
    rule: str
    text: str
    proof: tuple[int, ...]
    kind: str = "fault"
