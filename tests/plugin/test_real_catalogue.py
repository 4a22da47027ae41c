"""The whole path once: the real catalogue, against wrappers that do it no favour."""

from __future__ import annotations

import json

import pytest

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import ERAS, WAYS

MOST_DEATHS = 5

HEAD = """
import asyncio, os
kept, once = [], []

from pytest_mcp_conformance import Claims, Wrapper, adapter

async def nothing(*arguments):
    return None

async def no_tools():
    return []

async def a_nameless_tool():
    return [object()]
"""
HOOK = "\ndef pytest_mcp_adapters(config):\n    return [acme]\n"
ADAPTER = """
@adapter("acme", claims=Claims({claims}))
async def acme(dial):
    with open("entered", "a") as entered:
        entered.write("x")
    {body}
"""
LEAKING = """from mcp import ClientSession
    async with dial.streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        asyncio.get_running_loop().create_task(asyncio.sleep(1e6), name="poller")

        async def tools():
            return (await session.list_tools()).tools

        async def call(tool, arguments):
            return await session.call_tool(tool.name, arguments)

        yield Wrapper(list_tools=tools, call_tool=call)
"""


@pytest.fixture
def real(pytester, monkeypatch):
    """Run the real catalogue against an adapter with this body; gives the result and the report."""

    def run(body: str, *arguments: str, claims: str = "", alone: bool = False):
        pytester.makeconftest(HEAD + ADAPTER.format(body=body, claims=claims) + HOOK)
        every = ("--mcp-conformance", "--mcp-report=out.json", "-p", "no:asyncio", "-p", "no:syrupy")
        if alone:
            monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            every += ("-ppytest_mcp_conformance.plugin", "-pxdist.plugin")
        result = (pytester.runpytest_subprocess if alone else pytester.runpytest_inprocess)(
            *every, *arguments
        )
        written = pytester.path / "out.json"
        return result, (json.loads(written.read_text()) if written.exists() else None)

    return run


@pytest.fixture
def entered(pytester):
    """A file with a letter for each time that the adapter was entered."""
    return pytester.path / "entered"


@pytest.mark.parametrize("name", bundled())
def test_a_bundled_adapter_needs_an_empty_folder_only(pytester, name):
    result = pytester.runpytest_inprocess(
        "--mcp-conformance",
        f"--mcp-wrapper={name}",
        "--mcp-report=out.json",
        "-p",
        "no:asyncio",
        "-p",
        "no:syrupy",
    )
    (wrapper,) = json.loads((pytester.path / "out.json").read_text())["wrappers"]
    assert wrapper["name"] == name
    assert wrapper["counts"]["kept"] > 10
    assert result.ret == (0 if name == "reference" else 1)


def test_an_adapter_that_does_nothing_keeps_no_rule(real):
    result, written = real("yield Wrapper(list_tools=no_tools, call_tool=nothing)")
    assert written["wrappers"][0]["counts"]["kept"] == 0
    assert written["complete"] is True
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("raise OSError('no route'); yield", "connect raised OSError: no route"),
        ("await asyncio.Event().wait(); yield", "connect"),
        ("yield Wrapper(list_tools=asyncio.Event().wait, call_tool=nothing)", "list_tools"),
    ],
)
def test_a_step_that_fails_everywhere_is_named(real, entered, body, word):
    result, written = real(body)
    rules = written["wrappers"][0]["rules"].values()
    assert {rule["verdict"] for rule in rules} <= {"not-testable", "not-claimed"}
    assert all(word in rule["detail"] for rule in rules if rule["verdict"] == "not-testable")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    meetings = len(ERAS) * len(WAYS)
    assert len(entered.read_text()) <= meetings, "it was met once an era and way in; nothing was played"


def test_a_task_that_is_left_behind_is_named(real):
    result, written = real(LEAKING, claims="eras=('handshake',)")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "poller" in json.dumps(written["wrappers"][0]["rules"]["CONN-9"])


def test_a_wrapper_that_ends_its_process_gets_its_verdicts(real, entered):
    pytest.importorskip("xdist")
    result, written = real("os._exit(7); yield", "-n", "1", "--mcp-rule=CALL", alone=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert written["complete"] is True
    (wrapper,) = written["wrappers"]
    assert set(wrapper["counts"]) - {"not-testable"} == {
        key for key, number in wrapper["counts"].items() if not number
    }
    assert len(entered.read_text()) <= MOST_DEATHS, "after some deaths it is not played any more"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("yield Wrapper(list_tools=no_tools, call_tool=nothing)\n    yield", "yield"),
        ("yield 3", "3"),
        ("yield Wrapper(list_tools=no_tools, call_tool=3)", "call_tool=3"),
        ("yield Wrapper(list_tools=a_nameless_tool, call_tool=nothing)", "which has no name"),
    ],
)
def test_an_adapter_of_the_wrong_shape_is_one_usage_error(real, body, word):
    result, written = real(body)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert written["complete"] is False
    output = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output
    assert word in output


LEAVING = """from mcp import ClientSession
    import socket, threading
    from contextlib import suppress

    kept.append(socket.create_server(("127.0.0.1", 0)))
    threading.Thread(target=threading.Event().wait, name="poller", daemon=True).start()
    if not once:
        once.append(open(__file__))
    async with dial.streams() as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        with suppress(OSError):
            socket.create_connection(("192.0.2.1", 443))

        async def tools():
            return (await session.list_tools()).tools

        async def call(tool, arguments):
            return await session.call_tool(tool.name, arguments)

        yield Wrapper(list_tools=tools, call_tool=call)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_what_is_left_in_the_process_is_named_in_each_item(real, workers):
    pytest.importorskip("xdist")
    result, written = real(
        LEAVING,
        "mcp-conformance::answer_of_the_wrong_type",
        "mcp-conformance::listings_of_many_calls",
        *workers,
        claims="eras=('handshake',), transports=('memory',)",
        alone=True,
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    rule = written["wrappers"][0]["rules"]["CONN-9"]
    assert rule["verdict"] == "broken"
    result.stdout.fnmatch_lines_random(
        [
            "     found     left after close: *thread 'poller' in wait*; a socket that listens on *",
            "     clock     real, bounded by 5 s",
            "     found     the wrapper under test tried to connect to 192.0.2.1:443: *",
        ]
    )
    assert "conftest.py" not in rule["detail"]


SPEAKS_OUT = """from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    token = os.environ["ACME_TOKEN"]
    carried = {"Authorization": "Bearer " + token, "Cookie": "sid=" + token + "-c"}
    async with (
        create_mcp_http_client(headers=carried) as http,
        streamable_http_client(dial.url, http_client=http) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()

        async def tools():
            kept[:] = kept or (await session.list_tools()).tools
            return kept

        async def call(tool, arguments):
            try:
                return await session.call_tool(tool.name, {**arguments, "auth": token})
            except Exception as error:
                raise RuntimeError(f"with {token} and {token}-c: {error}")

        yield Wrapper(list_tools=tools, call_tool=call)
"""


def test_a_secret_of_the_wrapper_is_in_nothing_that_is_written_or_printed(real, monkeypatch, pytester):
    token = "sk-planted-9b21e7"
    monkeypatch.setenv("ACME_TOKEN", token)
    result, report = real(
        SPEAKS_OUT,
        "--mcp-transport=http",
        "--mcp-era=handshake",
        "--mcp-history=seen",
        "--junitxml=junit.xml",
        "-k",
        "overtaken or error or one_call_one_frame or answer_of_the_wrong_type",
        claims="caches_listings=True, reacts_to_list_changed=0.0, follows_pages=False, eras=('handshake',)",
    )
    told = report["wrappers"][0]["rules"]
    assert any(rule["verdict"] == "broken" for rule in told.values())
    assert "with [redacted] and [redacted]" in json.dumps(told)
    written = [path for path in pytester.path.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(written) > 5
    assert [str(path) for path in written if token.encode() in path.read_bytes()] == []
    assert token not in result.stdout.str() + result.stderr.str()
