"""An adapter that hands out its wrapper's own names for tools, where the kit looks for the server's."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_mcp_conformance.contract import Tool
from pytest_mcp_conformance.history import Event

__all__ = ["prefixed"]

_JOINTS = "_-./:"


def prefixed(served: Iterable[Tool], history: Iterable[Event]) -> str:
    """What to write in the adapter, where something stands before each name; empty where the names will do.

    Args:
        served: What `list_tools` gave.
        history: Of the play, with what the servers listed.
    """
    shown = sorted({tool.name for tool in served})
    listed = _listed(history) if shown else set()
    bare = [max((name for name in listed if _is_behind(name, each)), key=len, default="") for each in shown]
    if not shown or listed & {*shown} or not all(bare):
        return ""
    return (
        f"list_tools gave {shown[0]!r} where the server lists {bare[0]!r}, and a scenario knows tools by the "
        f"server's names: give Tool({bare[0]!r}, ..., handle=what was handed out)"
    )


def _is_behind(name: str, shown: str) -> bool:
    return bool(name) and shown.endswith(name) and shown[: -len(name)][-1:] in {*_JOINTS}


def _listed(history: Iterable[Event]) -> set[str]:
    answers = (e.message.get("result") for e in history if e.kind == "answered" and e.method == "tools/list")
    entries = (each for answer in answers if isinstance(answer, dict) for each in answer.get("tools") or ())
    return {str(each.get("name")) for each in entries if isinstance(each, dict)}
