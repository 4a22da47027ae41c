"""What the tests of histories play and write."""

from __future__ import annotations

from pathlib import Path

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import RULES, Adapter
from pytest_mcp_conformance.history import Digests, Entry, Footer, Header, History, HistoryWriter
from pytest_mcp_conformance.history.codec import encode
from pytest_mcp_conformance.scenarios import Scenario
from pytest_mcp_conformance.scenarios._player import play
from pytest_mcp_conformance.scenarios._scenario import Play
from pytest_mcp_conformance.server import tool

KEY = b"a key that everybody knows"


def recorded(
    path: Path, body: Play, *, era: str = "handshake", way: str = "memory", subject: Adapter | None = None
) -> History:
    """Play `body(server, connect)` against `subject`, by default the reference, and write it to `path`."""
    scenario = Scenario("recorded", (RULES["CALL-1"],), body, "", frozenset({era}))
    with HistoryWriter(path, Digests(KEY), name="recorded", era=era) as writer:
        played = play(
            scenario,
            subject or bundled()["reference"],
            era=era,
            way=way,
            compare=False,
            listener=writer.write,
        )
    assert "ended without a word" in played.judgements[0].detail, played.judgements  # it came to its end
    return History.load(path)


def written(path: Path, *entries: Entry, events: int | None = None) -> Path:
    """A file of these entries, with a footer that counts `events`; none where that is less than zero."""
    count = len(entries) if events is None else events
    footer = () if count < 0 else (Footer(count),)
    path.write_bytes(b"".join(map(encode, (Header(1, "0" * 16), *entries, *footer))))
    return path


async def lists_and_calls(server, connect):
    """A list, a call, a notice, a list again, and a call that the server fails."""
    server.has_tools(tool("a", "integer"), "old")
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await wrapper.call("a", "n1")
        server.has_tools(tool("a", "string"), "new")
        await server.notify_list_changed()
        await wrapper.list_tools()
        server.fails("tools/call", -32001)
        await wrapper.call("a", "n2")
