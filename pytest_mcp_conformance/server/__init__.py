"""The scripted server: what it says, when it says it, and the ledger of every frame."""

from pytest_mcp_conformance.server.brittle import Brittle
from pytest_mcp_conformance.server.faults import FAULTS, STEPS, Fault
from pytest_mcp_conformance.server.gate import Gate, Held
from pytest_mcp_conformance.server.ledger import DEADLINE, Ledger, NotReached
from pytest_mcp_conformance.server.script import HOUR_MS, ScriptedServer
from pytest_mcp_conformance.server.tools import ABSENT, V1, V2, output, tool

__all__ = [
    "ABSENT",
    "DEADLINE",
    "FAULTS",
    "HOUR_MS",
    "STEPS",
    "V1",
    "V2",
    "Brittle",
    "Fault",
    "Gate",
    "Held",
    "Ledger",
    "NotReached",
    "ScriptedServer",
    "output",
    "tool",
]
