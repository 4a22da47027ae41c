"""What is told of a play is without secrets."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.history.redacting import Secrets

PLANTED = "sk-planted-4d0c9"


def of(name, value):
    return Secrets([Event(1, 0.0, "asked", headers={name: value})], {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {PLANTED}"),
        ("authorization", PLANTED),
        ("Cookie", f"theme=dark; session={PLANTED}; other=1"),
        ("X-Api-Key", PLANTED),
    ],
)
def test_a_credential_of_a_header_is_taken_out(name, value):
    told = of(name, value).out_of(f"refused: {value!r}, that is {PLANTED}")
    assert PLANTED not in told
    assert "[redacted]" in told


@pytest.mark.parametrize("name", ["ACME_TOKEN", "client_secret", "OPENAI_API_KEY", "DB_PASSWORD"])
def test_a_secret_of_the_environment_is_taken_out(name):
    assert Secrets((), {name: PLANTED}).out_of(f"no entry for {PLANTED}") == "no entry for [redacted]"


def test_a_long_secret_goes_before_one_that_begins_it():
    secrets = Secrets((), {"A_TOKEN": PLANTED, "B_TOKEN": f"{PLANTED}-and-more"})
    assert secrets.out_of(f"{PLANTED}-and-more") == "[redacted]"


@pytest.mark.parametrize(
    "secrets",
    [
        Secrets((), {}),
        Secrets((), {"HOME": "/home/ann", "A_TOKEN": "true"}),
        of("Content-Type", "application/json"),
        of("Authorization", "Bearer scripted-90f2a1c0"),
    ],
    ids=["none", "ordinary variables", "ordinary headers", "made up by the kit"],
)
def test_everything_else_stays(secrets):
    text = "HOME=/home/ann true application/json Bearer scripted-90f2a1c0"
    assert secrets.out_of(text) == text
