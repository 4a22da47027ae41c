"""Right wrappers that are made otherwise than the reference: none of them may be accused of anything.

They keep the rules of which the reference makes no claim, and others in another way than it does.
"""

from __future__ import annotations

from tests.wrong._answering import Answers
from tests.wrong._pages import KeepsPages
from tests.wrong._polling import EVERY, Polls
from tests.wrong._wrong import made

__all__ = ["RIGHT"]

RIGHT = (
    made("keeps_pages", KeepsPages, snapshot_lists=False),
    made("answers", Answers, answers_input=True),
    made("polls", Polls, polls=EVERY),
)
"""Their adapters."""
