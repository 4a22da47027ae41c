"""Histories of any client and any server, recorded between the two. Needs neither pytest nor the SDK."""

from pytest_mcp_conformance.recording.frames import Frames
from pytest_mcp_conformance.recording.record import Record
from pytest_mcp_conformance.recording.stdio import NotStarted, record_stdio

__all__ = ["Frames", "NotStarted", "Record", "record_stdio"]
