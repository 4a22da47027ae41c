"""What a gateway of execnet is sent: it takes the other files of this folder, and does the jobs that come."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any


def serve(channel: Any) -> None:
    """Take the sources and a job, do it, and say what came out.

    Args:
        channel: To whoever has sent this. Whatever it sends after the job, and its end, stops the job.
    """
    for name, source in channel.receive():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    job, stop = channel.receive(), threading.Event()
    channel.setcallback(lambda _: stop.set(), endmarker=None)

    def tell(what: str) -> None:
        if not stop.is_set():
            channel.send(["tell", what])

    done = sys.modules["pytest_mcp_conformance.matrix.work.job"].do(job, tell, stop)
    channel.send(["done", done])


if __name__ == "__channelexec__":
    serve(channel)  # type: ignore[name-defined]  # noqa: F821
