"""The errors of the kit. Each message names the thing, the place and the remedy.

ConformanceError
├── UsageError            the kit was asked for something that does not exist
│   └── AdapterError      an adapter is not what section "An adapter" of the docs says
└── NotSpoken             an era or a way in that the wrapper, or this kit, does not speak
"""

from __future__ import annotations

__all__ = ["AdapterError", "ConformanceError", "NotSpoken", "UsageError"]


class ConformanceError(Exception):
    """Whatever the kit itself has to say."""


class UsageError(ConformanceError):
    """An option, a name or a file of the user's is wrong; the message says which, and the remedy."""


class AdapterError(UsageError):
    """An adapter does not have the shape of an adapter."""


class NotSpoken(ConformanceError):
    """The wrapper asked its dial for a way in, or an era, that is not to be had in this run."""
