"""Where jobs are done: in this process, or at the other end of a gateway of execnet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from inspect import getsource
from typing import Any, Protocol

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.matrix.work import far
from pytest_mcp_conformance.matrix.work.job import do

__all__ = ["Place", "PlaceLost", "gateways", "here"]

_SENT = tuple(
    f"pytest_mcp_conformance.matrix.work.{name}" for name in ("process", "environment", "playing", "job")
)
"""The modules that a gateway is sent, each after those that it imports."""

_LOOK = 0.2
_PATIENCE = 10.0

Told = Callable[[str], object]


class PlaceLost(Exception):
    """A place takes no more jobs; the job that it had is not done."""


class Place(Protocol):
    """Somebody who does one job at a time."""

    def do(self, job: dict[str, Any], tell: Told, stop: threading.Event) -> dict[str, Any]:
        """Do a job.

        Raises:
            PlaceLost: It is not there any more.
        """


class _Here:
    def do(self, job: dict[str, Any], tell: Told, stop: threading.Event) -> dict[str, Any]:
        return do(job, tell, stop)


def here(number: int) -> list[Place]:
    """So many places in this process; the work is in processes of its own."""
    return [_Here() for _ in range(number)]


@contextmanager
def gateways(specs: Sequence[str]) -> Iterator[list[Place]]:
    """A place for each specification of execnet's, as `popen` or `ssh=host//python=python3.12`.

    Raises:
        UsageError: execnet is not installed, or a gateway cannot be made.
    """
    try:
        import execnet
    except ImportError:
        raise UsageError("--on needs execnet: pip install 'pytest-mcp-conformance[matrix]'") from None
    group = execnet.Group()
    try:
        yield [_Gateway(_made(group, spec), spec) for spec in specs]
    finally:
        group.terminate(timeout=_PATIENCE)


def _made(group: Any, spec: str) -> Any:
    try:
        return group.makegateway(spec)
    except Exception as error:
        raise UsageError(f"--on {spec}: no gateway, {type(error).__name__}: {error}") from None


class _Gateway:
    def __init__(self, gateway: Any, spec: str) -> None:
        self._gateway = gateway
        self._spec = spec

    def do(self, job: dict[str, Any], tell: Told, stop: threading.Event) -> dict[str, Any]:
        try:
            channel = self._gateway.remote_exec(far)
            channel.send([(name, getsource(import_module(name))) for name in _SENT])
            channel.send(job)
            return self._answer(channel, tell, stop)
        except (EOFError, OSError, _remote_error()) as error:
            raise PlaceLost(f"the gateway {self._spec} is lost: {error}".strip()) from None

    @staticmethod
    def _answer(channel: Any, tell: Told, stop: threading.Event) -> dict[str, Any]:
        told = False
        while True:
            if stop.is_set() and not told:
                told = True
                with suppress(OSError):
                    channel.send("stop")
            try:
                what, said = channel.receive(timeout=_LOOK)
            except channel.TimeoutError:
                continue
            if what == "done":
                return dict(said)
            tell(said)


def _remote_error() -> type[Exception]:
    from execnet import RemoteError

    return RemoteError
