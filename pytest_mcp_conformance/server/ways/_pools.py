"""respx's hold on the connection pools of httpx and httpx2, turned towards a switchboard of our own.

respx knows httpcore alone, which is under httpx. The same targets in httpcore2, under httpx2, take the same
hold. Neither of its mockers is made known to respx by a name, so a suite's own use of respx is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol
from unittest import mock

from respx.mocks import HTTPCoreMocker

__all__ = ["Switchboard", "held_pools"]

LIBRARIES = {"httpcore": "httpx", "httpcore2": "httpx2"}
"""Each library of connection pools, and the HTTP client that stands on it."""


class Switchboard(Protocol):
    """What is asked instead of the network. `core` is the library whose types and errors the client knows."""

    async def answer(self, core: Any, request: Any, pool: Any) -> Any:
        """The `core.Response` to a request of an asynchronous client."""
        ...

    def answer_blocking(self, core: Any, request: Any, pool: Any) -> Any:
        """The `core.Response` to a request of a blocking client."""
        ...

    def pool_closed(self, pool: Any) -> None:
        """An HTTP client was closed, whatever it was still reading."""
        ...


class _Pools(HTTPCoreMocker):
    name = ""  # respx keeps no mocker without a name
    core: Any
    board: Switchboard

    @classmethod
    def _send_sync_request(cls, httpx_request: Any, *, target_spec: Any, instance: Any, **_: Any) -> Any:
        return cls.board.answer_blocking(cls.core, httpx_request, instance)

    @classmethod
    async def _send_async_request(
        cls, httpx_request: Any, *, target_spec: Any, instance: Any, **_: Any
    ) -> Any:
        return await cls.board.answer(cls.core, httpx_request, instance)


@contextmanager
def held_pools(board: Switchboard) -> Iterator[None]:
    """Have every request of httpx and httpx2 in this process answered by `board`."""
    with ExitStack() as stack:
        for core_name, client_name in LIBRARIES.items():
            try:
                core, client = import_module(core_name), import_module(f"{client_name}._transports.default")
            except ImportError:
                continue
            targets = [target.replace("httpcore.", f"{core_name}.") for target in HTTPCoreMocker.targets]
            kind: Any = type(
                "_Pools", (_Pools,), {"core": core, "board": board, "targets": targets, "_patches": []}
            )
            kind.start()
            stack.callback(kind.stop, force=True)
            for pools, close in ((core.AsyncConnectionPool, "aclose"), (core.ConnectionPool, "close")):
                stack.enter_context(mock.patch.object(pools, close, _closing(getattr(pools, close), board)))
            # A TLS context takes 25 ms to build and is never used here.
            stack.enter_context(mock.patch.object(client, "create_ssl_context", _kept(client)))
        yield


def _closing(close: Any, board: Switchboard) -> Any:
    def closing(pool: Any) -> Any:
        board.pool_closed(pool)
        return close(pool)

    return closing


def _kept(client: Any) -> Any:
    build = client.create_ssl_context
    plain = _once(build)

    def create_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> Any:
        kept = isinstance(verify, bool) and cert is None
        return (plain if kept else build)(verify=verify, cert=cert, trust_env=trust_env)

    return create_ssl_context


@lru_cache
def _once(build: Callable[..., Any]) -> Callable[..., Any]:
    """What builds a context once a process for the same settings."""
    return lru_cache(build)
