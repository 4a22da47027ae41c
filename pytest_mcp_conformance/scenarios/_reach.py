"""What one object holds."""

from __future__ import annotations

import gc
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

__all__ = ["reach"]


def reach(start: Any, *, most: int = 5_000) -> list[Any]:
    """All objects that one holds, and those that they hold, but for code, modules and types.

    Args:
        start: The object, which is the first of them.
        most: How many are looked for.
    """
    found: dict[int, Any] = {}
    ahead = [start]
    while ahead and len(found) < most:
        each = ahead.pop()
        if id(each) not in found and not isinstance(each, type | ModuleType | CodeType | FrameType):
            found[id(each)] = each
            ahead += gc.get_referents(each) if not isinstance(each, FunctionType) else each.__closure__ or ()
    return list(found.values())
