"""Plays by the hundred, without what the SDK and the reference log of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["unlogged"]

_LOGGERS = ("mcp", "mcp_conformance_reference")


@contextmanager
def unlogged() -> Iterator[None]:
    """Have these loggers say nothing for a while; as they were, afterwards. Also a decorator."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
