"""A stdio server of one file, with the standard library alone; each of its tools is one thing gone wrong.

Run as `python -I -S stdio_child.py [FAULT=VALUE ...]`. `notes=FILE` has it write down there how it ends, with
`ends=late` it lives on after the end of stdin, with `ends=killed` after SIGTERM too, and `last=WORD` is what
it says when stdin has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

TOOLS = ("well", "pid", "exit", "kill", "eof", "text", "bytes", "mute")
faults = dict(argument.split("=", 1) for argument in sys.argv[1:])


def note(word: str) -> None:
    if "notes" in faults:
        with open(faults["notes"], "a") as notes:
            notes.write(word + "\n")


def say(frame: dict[str, Any]) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")


def called(name: str) -> bool:
    """What a tool does before it is answered; gives whether it is."""
    if name == "exit":
        os._exit(0)
    if name == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "eof":
        os.close(1)
    if name == "text":
        os.write(1, "Starting up…\n\n{}\n".encode())
    if name == "bytes":
        os.write(1, b"caf\xe9\n")
    if name == "mute":
        os.close(0)
    return name != "eof"


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "child", "version": "0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    return {"content": [{"type": "text", "text": str(os.getpid())}]} if called(params["name"]) else None


def terminated(*_: Any) -> None:
    note("SIGTERM")
    if faults.get("ends") != "killed":
        os._exit(0)


def lines() -> Any:
    """The lines of stdin, which a tool may close."""
    rest = b""
    while said := os.read(0, 65536):
        *whole, rest = (rest + said).split(b"\n")
        yield from whole


def main() -> None:
    signal.signal(signal.SIGTERM, terminated)
    try:
        for line in lines():
            frame = json.loads(line)
            params = frame.get("params") or {}
            result = result_of(frame["method"], params) if "id" in frame else None
            if result is not None:
                modern = "io.modelcontextprotocol/protocolVersion" in (params.get("_meta") or {})
                fresh = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
                say({"id": frame["id"], "result": {**result, **fresh}})
    except OSError:  # a tool has closed stdin
        note("mute")
        while True:
            signal.pause()
    note("end of stdin")
    if "last" in faults:
        say({"method": "notifications/message", "params": {"level": "info", "data": faults["last"]}})
    while "ends" in faults:
        signal.pause()


main()
