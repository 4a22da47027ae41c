"""The report file, for programs."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version

import pytest

from tests.plugin.helpers import declared, hook

ITEM = "mcp-conformance::overtaken_listing[acme-memory-handshake]"


def test_the_file_has_the_form_that_is_promised(adapter, report):
    adapter(
        "CALL-1=broken", claims="caches_listings=True, reacts_to_list_changed=0.0, resends_calls=('dropped',)"
    )
    assert report() == {
        "format": 1,
        "kit": {"version": version("pytest-mcp-conformance"), "contract": "1.0"},
        "environment": {
            "python": platform.python_version(),
            "mcp": version("mcp"),
            "pytest": version("pytest"),
        },
        "wrappers": [
            {
                "name": "acme",
                "version": "1.0",
                "claims": {
                    "caches_listings": True,
                    "reacts_to_list_changed": 0.0,
                    "resends_calls": ["dropped"],
                }
                | {
                    "follows_pages": True,
                    "lifetimes": True,
                    "limits_verbs": True,
                    "checks_output": "refuses",
                    "transports": ["memory"],
                },
                "probes": [
                    {
                        "claim": "caches_listings",
                        "says": True,
                        "wire": True,
                        "detail": "two listings, one frame",
                    }
                ],
                "counts": {
                    "kept": 4,
                    "broken": 1,
                    "known-gap": 0,
                    "not-claimed": 0,
                    "not-testable": 0,
                    "unknown": 0,
                },
                "rules": {
                    "CCH-13": kept(
                        "MUST",
                        "kit",
                        "overtaken_listing[acme-memory-handshake]",
                        "overtaken_listing[acme-memory-modern]",
                        "two_listings[acme-memory-handshake]",
                    ),
                    "CCH-15": kept("MUST", "kit", "two_listings[acme-memory-handshake]"),
                    "NTC-1": kept(
                        "MUST",
                        "kit",
                        "list_changed[acme-memory-handshake-while_idle]",
                        "list_changed[acme-memory-handshake-while_listing]",
                        "list_changed[acme-memory-modern-while_idle]",
                        "list_changed[acme-memory-modern-while_listing]",
                    ),
                    "CALL-1": {
                        "verdict": "broken",
                        "level": "MUST",
                        "source": "kit",
                        "inherited": False,
                        "items": ["mcp-conformance::one_request_a_call[acme-memory-modern]"],
                        "clock": "virtual",
                        "detail": "assert ['old'] == ['new']",
                        "proof": [],
                        "replay": "",
                    },
                    "TOOL-2": kept(
                        "SHOULD", "2026-07-28 server/tools#tool-names", "weak_promise[acme-memory-handshake]"
                    ),
                },
                "trouble": [],
                "borne": [],
            }
        ],
        "complete": True,
    }


def kept(level: str, source: str, *items: str) -> dict[str, object]:
    return {
        "verdict": "kept",
        "level": level,
        "source": source,
        "inherited": False,
        "items": [f"mcp-conformance::{item}" for item in items],
        "clock": "virtual",
        "detail": "",
        "proof": [],
        "replay": "",
    }


def test_a_rule_says_by_which_clock_its_verdict_was_found(adapter, report):
    adapter("CCH-13@modern=broken NTC-1@handshake=broken real@modern")
    rules = report()["wrappers"][0]["rules"]
    clocks = {name: rules[name]["clock"] for name in ("CCH-13", "CCH-15", "NTC-1", "TOOL-2")}
    really = "real, bounded by 5 s"
    assert clocks == {"CCH-13": really, "CCH-15": "virtual", "NTC-1": "virtual", "TOOL-2": "virtual"}


def test_the_worst_item_decides_and_is_named(adapter, report):
    adapter("CCH-13@modern=broken CCH-13@handshake=not-testable")
    rule = report()["wrappers"][0]["rules"]["CCH-13"]
    assert rule["verdict"] == "broken"
    assert rule["items"] == ["mcp-conformance::overtaken_listing[acme-memory-modern]"]


def test_several_reports_can_be_written(adapter, run, pytester):
    adapter()
    run("--mcp-report=one.json", "--mcp-report=two.json")
    assert (pytester.path / "one.json").read_text() == (pytester.path / "two.json").read_text()


def test_wrappers_stand_in_the_order_in_which_they_were_played(pytester, report):
    pytester.makeconftest(declared(name="second") + declared(name="first") + hook("second", "first"))
    assert [each["name"] for each in report()["wrappers"]] == ["second", "first"]


def test_what_a_wrapper_says_carries_no_escapes(pytester, report):
    pytester.makeconftest(
        declared("CALL-1=broken", claims="resends_calls=('\\x1b[31m', '\\ud800')") + hook("acme")
    )
    assert report()["wrappers"][0]["claims"]["resends_calls"] == [r"\x1b[31m", r"\ud800"]


@pytest.mark.parametrize(
    ("says", "arguments"),
    [
        ("CCH-13=broken", ["-x"]),
        ("CCH-13=broken", ["--maxfail=2"]),
        ("interrupt=two_listings", []),
        ("error=", []),
        ("", ["--mcp-wrapper=acne"]),
    ],
)
def test_an_interrupted_run_says_that_it_is_not_complete(adapter, run, pytester, says, arguments):
    adapter(says)
    run("--mcp-report=out.json", *arguments, alone=says.startswith("interrupt"))
    assert json.loads((pytester.path / "out.json").read_text())["complete"] is False


def test_a_run_that_was_narrowed_is_complete(adapter, report):
    adapter()
    written = report("-k", "CALL")
    assert written["complete"] is True
    assert "CALL-1" in written["wrappers"][0]["rules"]


def test_an_older_report_is_replaced_whole(adapter, run, pytester):
    adapter()
    pytester.path.joinpath("out.json").write_text("{" * 100_000)
    run("--mcp-report=out.json")
    assert json.loads((pytester.path / "out.json").read_text())["complete"] is True
    assert [path.name for path in pytester.path.iterdir() if path.suffix == ".part"] == []


def test_a_file_that_cannot_be_written_is_told(adapter, run, monkeypatch):
    from pytest_mcp_conformance.plugin import ending

    def full(path: object, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ending, "write_atomically", full)
    adapter()
    result = run("--mcp-report=out.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["report not written to *out.json: No space left on device"])


def test_with_workers_the_items_stand_in_the_same_order(adapter, report):
    adapter("CALL-1=broken NTC-1@modern=broken")
    assert report("-n", "2")["wrappers"] == report()["wrappers"]
