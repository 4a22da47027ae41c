"""The settings of one server, under the names that most packages give them."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract import Dial

__all__ = ["settings_of"]


def settings_of(dial: Dial) -> dict[str, Any]:
    """`command` and `args` over stdio, else `url` and the principal's own `headers`."""
    if dial.transport == "stdio":
        command, *arguments = dial.command
        return {"command": command, "args": arguments}
    return {"url": dial.url, "headers": dial.headers}
