"""What happened, written as it happens. Imports the contract alone."""

from pytest_mcp_conformance.history.event import Event
from pytest_mcp_conformance.history.lines import line_of, telling
from pytest_mcp_conformance.history.plain import copied
from pytest_mcp_conformance.history.recorder import Recorder

__all__ = ["Event", "Recorder", "copied", "line_of", "telling"]
