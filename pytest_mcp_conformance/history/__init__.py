"""What happened, written as it happens, and read again. Imports the contract alone."""

from pytest_mcp_conformance.history.checker import check
from pytest_mcp_conformance.history.codec import schema
from pytest_mcp_conformance.history.condensing import SUBSCRIPTION, Condenser
from pytest_mcp_conformance.history.digests import Digests
from pytest_mcp_conformance.history.entry import FORMAT, KINDS, Entry, Footer, Header, Listed
from pytest_mcp_conformance.history.errors import BrokenHistory, HistoryError, NotAHistory, UnknownFormat
from pytest_mcp_conformance.history.event import Event
from pytest_mcp_conformance.history.explaining import Explanation, explain, explain_all
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.frames import frame_of, is_frame, kind_from_client, kind_from_server
from pytest_mcp_conformance.history.lines import line_of, telling
from pytest_mcp_conformance.history.live import LiveHistory
from pytest_mcp_conformance.history.normal import normal_lines
from pytest_mcp_conformance.history.plain import copied, jsonlike
from pytest_mcp_conformance.history.reading import History
from pytest_mcp_conformance.history.recorder import Recorder
from pytest_mcp_conformance.history.writing import HistoryWriter, being_written

__all__ = [
    "FORMAT",
    "KINDS",
    "SUBSCRIPTION",
    "BrokenHistory",
    "Condenser",
    "Digests",
    "Entry",
    "Event",
    "Explanation",
    "Finding",
    "Footer",
    "Header",
    "History",
    "HistoryError",
    "HistoryWriter",
    "Listed",
    "LiveHistory",
    "NotAHistory",
    "Recorder",
    "UnknownFormat",
    "being_written",
    "check",
    "copied",
    "explain",
    "explain_all",
    "frame_of",
    "is_frame",
    "jsonlike",
    "kind_from_client",
    "kind_from_server",
    "line_of",
    "normal_lines",
    "schema",
    "telling",
]
