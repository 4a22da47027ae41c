"""One line of a history's file, written and read."""

from __future__ import annotations

import json

import msgspec

from pytest_mcp_conformance.history.entry import Entry, Footer, Header

__all__ = [
    "LONGEST",
    "decode_entries",
    "decode_entry",
    "decode_footer",
    "decode_header",
    "encode",
    "format_of",
    "schema",
]

LONGEST = 32 * 1024 * 1024
"""Bytes of a line that a reader takes; a writer stays far below."""

_encoder = msgspec.json.Encoder()
decode_entry = msgspec.json.Decoder(Entry).decode
decode_entries = msgspec.json.Decoder(Entry).decode_lines
decode_footer = msgspec.json.Decoder(Footer).decode
decode_header = msgspec.json.Decoder(Header).decode


class _Format(msgspec.Struct):
    history: int


_decode_format = msgspec.json.Decoder(_Format).decode


def format_of(line: bytes) -> int:
    """The format that a first line names, whatever else it says.

    Raises:
        msgspec.MsgspecError: It is no first line.
    """
    return _decode_format(line).history


def encode(item: Header | Entry | Footer) -> bytes:
    """One line, its end included: ASCII without controls, of which a terminal obeys nothing."""
    line = _encoder.encode(item)
    if not line.isascii():
        line = json.dumps(json.loads(line), separators=(",", ":")).encode()
    return line.replace(b"\x7f", b"\\u007f") + b"\n"


def schema() -> dict[str, object]:
    """The JSON Schema of every line, which is a header, an entry or a footer."""
    _, parts = msgspec.json.schema_components([Header, Entry, Footer], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a history",
        "oneOf": [{"$ref": f"#/$defs/{each.__name__}"} for each in (Header, Entry, Footer)],
        "$defs": parts,
    }
