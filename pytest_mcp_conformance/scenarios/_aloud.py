"""What a program says beside what its functions return: warnings, and log records that are warnings."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Aloud", "listening"]


class Aloud(logging.Handler):
    """What was said while somebody listened.

    Attributes:
        words: The texts.
        deaf: Whether logging is switched off, so that nobody knows what would have been said.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.words: list[str] = []
        self.deaf = logging.root.manager.disable >= logging.WARNING

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a record."""
        self.words.append(record.getMessage())


@contextmanager
def listening() -> Iterator[Aloud]:
    """Hear what is warned of, and logged as a warning or worse, by whomever."""
    aloud = Aloud()
    logging.root.addHandler(aloud)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield aloud
        of_programmers = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)
        aloud.words += [str(each.message) for each in caught if not issubclass(each.category, of_programmers)]
    finally:
        logging.root.removeHandler(aloud)
