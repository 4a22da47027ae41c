"""What nearly every wrapper's call is given: the name of a tool, and a handler in the SDK's form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

__all__ = ["hears_log", "hears_progress", "name_of", "page_params"]


def name_of(tool: Any) -> str:
    """The name of a tool that was listed, or that is a name."""
    name: str = tool if isinstance(tool, str) else tool.name
    return name


def hears_progress(on_progress: Callable[[float], None] | None) -> Callable[..., Awaitable[None]] | None:
    """The SDK's kind of progress handler, which tells `on_progress`."""
    if on_progress is None:
        return None
    tell = on_progress

    async def hears(progress: float, total: float | None, message: str | None) -> None:
        tell(progress)

    return hears


def hears_log(heard: list[str]) -> Callable[[Any], Awaitable[None]]:
    """The SDK's kind of log handler, which writes into `heard`."""

    async def hears(message: Any) -> None:
        heard.append(str(message.data))

    return hears


def page_params(cursor: str | None) -> Any:
    """The SDK's page parameters."""
    from mcp.types import PaginatedRequestParams  # the name of the module differs by what is installed

    return None if cursor is None else PaginatedRequestParams(cursor=cursor)
