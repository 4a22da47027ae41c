"""The bundled adapters: one short file per real wrapper, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from packaging.requirements import Requirement

from pytest_mcp_conformance.contract import Adapter

__all__ = ["BUNDLED", "bare_sdks", "bundled", "is_bare_sdk"]

BUNDLED: Mapping[str, str] = {
    "reference": "mcp>=1.24",
    "mcp-session": "mcp",
    "mcp-client": "mcp>=2",
    "agent-framework-core": "agent-framework-core>=1.0.0b251001",
    "agno": "agno>=1.7.7",
    "autogen-ext": "autogen-ext>=0.5.5",
    "beeai-framework": "beeai-framework[mcp]>=0.1.35",
    "camel-ai": "camel-ai>=0.2.74",
    "fastmcp": "fastmcp>=2.5.2",
    "fastmcp-proxy": "fastmcp>=2.10.2",
    "fastmcp-proxy-stateful": "fastmcp>=2.10.2",
    "google-adk": "google-adk>=1.3",
    "langchain-mcp-adapters": "langchain-mcp-adapters>=0.0.11",
    "langchain-mcp-adapters-session": "langchain-mcp-adapters>=0.1.4",
    "litellm": "litellm>=1.110",
    "llama-index-tools-mcp": "llama-index-tools-mcp>=0.4",
    "mcp-agent": "mcp-agent>=0.1.17",
    "mcp-haystack": "mcp-haystack>=0.4",
    "mcp-proxy": "mcp-proxy>=0.11,<1",
    "mcp-use": "mcp-use>=1.5",
    "mcpadapt": "mcpadapt>=0.1.5",
    "openai-agents": "openai-agents>=0.0.12",
    "pydantic-ai": "pydantic-ai-slim>=0.2.6",
    "semantic-kernel": "semantic-kernel>=1.28.1",
    "strands-agents": "strands-agents>=0.3",
}
"""The names of all bundled adapters, installed or not, and what each needs installed."""


class _Bundled(Mapping[str, Adapter]):
    """The bundled adapters that can be had here, by name; each is imported when it is taken."""

    def __init__(self) -> None:
        self._names = [name for name, needs in BUNDLED.items() if _is_installed(needs)]

    def __getitem__(self, name: str) -> Adapter:
        if name not in self._names:
            raise KeyError(name)
        adapter: Adapter = import_module(_module_of(name)).adapter_
        return adapter

    def __contains__(self, name: object) -> bool:
        return name in self._names  # a Mapping would import it for an answer

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


_BARE = ("mcp-client", "mcp-session")


@lru_cache(maxsize=1)
def bundled() -> Mapping[str, Adapter]:
    """The bundled adapters whose package is installed, by name."""
    return _Bundled()


def bare_sdks(*, limited: bool = True) -> list[Adapter]:
    """The SDK with nothing around it: the adapters of its own clients that are installed.

    Args:
        limited: Whether they are given the limit that they claim, or none and claim none.
    """
    bare = [bundled()[name] for name in _BARE if name in bundled()]
    return bare if limited else [_without_limit(each) for each in bare]


@lru_cache(maxsize=len(_BARE))  # one object each, because what is found of an adapter is kept by it
def _without_limit(bare: Adapter) -> Adapter:
    claims = replace(bare.claims, own_timeout=None)
    return replace(bare, play=partial(bare.play, limit=None), claims=claims)


def is_bare_sdk(adapter: Adapter) -> bool:
    """True when `adapter` is one of the SDK's own."""
    return any(each is adapter for each in bare_sdks())


def sdk_major() -> int:
    """The major version of the installed `mcp`; 0 where there is none."""
    try:
        return int(version("mcp").partition(".")[0])
    except PackageNotFoundError:
        return 0


def _module_of(name: str) -> str:
    return f"{__name__}.{name.replace('-', '_')}"


def _is_installed(needs: str) -> bool:
    wanted = Requirement(needs)
    try:
        return wanted.specifier.contains(version(wanted.name), prereleases=True)
    except PackageNotFoundError:
        return False
