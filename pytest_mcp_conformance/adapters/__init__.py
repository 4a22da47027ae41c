"""The bundled adapters: one short file per real wrapper, imported when it is asked for."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from pytest_mcp_conformance.contract import Adapter

__all__ = ["BUNDLED", "bare_sdks", "bundled", "is_bare_sdk"]

_MODULES = {"reference": "reference", "mcp-session": "mcp_session", "mcp-client": "mcp_client"}

BUNDLED = tuple(_MODULES)
"""The names of all bundled adapters, installed or not."""


@lru_cache(maxsize=1)
def bundled() -> dict[str, Adapter]:
    """The bundled adapters whose package is installed, by name."""
    found = {}
    for name, module in _MODULES.items():
        if name == "mcp-client" and sdk_major() < 2:
            continue
        found[name] = import_module(f"{__name__}.{module}").adapter_
    return found


def bare_sdks() -> list[Adapter]:
    """The SDK with nothing around it: the adapters of its own clients that are installed."""
    return [bundled()[name] for name in ("mcp-client", "mcp-session") if name in bundled()]


def is_bare_sdk(adapter: Adapter) -> bool:
    """True when `adapter` is one of the SDK's own."""
    return any(each is adapter for each in bare_sdks())


def sdk_major() -> int:
    """The major version of the installed `mcp`; 0 where there is none."""
    try:
        return int(version("mcp").partition(".")[0])
    except PackageNotFoundError:
        return 0
