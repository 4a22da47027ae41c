"""What a dial gives in one object, and what a caller sees who gave it to several."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract import AdapterError
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.configuration import Configuration
from pytest_mcp_conformance.server.ways.dial import dials_over


def dialled(scene, configuration=None, way="http"):
    """What `scene` gives for two dials of one principal."""

    async def main():
        async with dials_over(ScriptedServer(way=way), way) as dial:
            dials = dial("A"), dial("A")
            for each in dials:
                each.configuration = configuration
            return scene(*dials)

    return run(main)


def test_settings_over_http_are_an_address_and_headers_with_what_is_added():
    def scene(dial, other):
        told = dial.settings(transport="http")
        assert told == {"url": dial.url, "headers": dial.headers, "transport": "http"}
        assert dial.settings() is not dial.settings()
        assert dial.http_client is None

    dialled(scene)


def test_over_memory_there_are_none():
    with pytest.raises(AdapterError, match="url"):
        dialled(lambda dial, other: dial.settings(), way="memory")


def test_a_caller_gives_the_same_objects_to_all():
    callers = Configuration({"Authorization": "Bearer x"}, "a client")

    def scene(one, other):
        assert one.settings(transport="http") is other.settings(transport="http")
        assert one.settings()["headers"] is one.headers is other.headers is callers.headers
        assert one.http_client == other.http_client == "a client"

    dialled(scene, callers)


@pytest.mark.parametrize(
    ("write", "changed"),
    [
        (len, []),
        (lambda settings: settings.pop("transport"), ["transport"]),
        (lambda settings: settings.update(timeout=1), ["timeout"]),
        (lambda settings: settings["session"].update(log=1), ["session"]),
        (lambda settings: settings["headers"].clear(), ["headers"]),
    ],
)
def test_a_caller_sees_what_was_written_into_its_settings(write, changed):
    callers = Configuration({"Authorization": "Bearer x"})
    write(dialled(lambda dial, other: dial.settings(transport="http", session={}), callers))
    assert callers.changed == changed
