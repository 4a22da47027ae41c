"""What a wrong wrapper is: a `ReferenceClient` with one part replaced, made into an adapter."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mcp_conformance_reference import ReferenceClient
from mcp_conformance_reference.overhttp import http_streams

from pytest_mcp_conformance.adapters._reference import LIMIT, wrapper_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.adapters.reference import CLAIMS
from pytest_mcp_conformance.contract import Adapter, Dial, Rule, Wrapper, adapter

__all__ = ["Wrong", "breaks"]


@dataclass(frozen=True)
class Wrong:
    """A wrong wrapper.

    Attributes:
        name: `cch_12_notice_is_only_logged`.
        rule: The rule that it breaks.
        doc: What it does wrong.
        adapter: How to drive it.
        inside: True when a part beside the client is wrong, and the client is the reference's.
    """

    name: str
    rule: Rule
    doc: str
    adapter: Adapter
    inside: bool = False


class Shared(dict[str, Any]):
    """What the holders of one scenario share; made anew for each."""


@asynccontextmanager
async def _fresh() -> AsyncIterator[Shared]:
    yield Shared()


def breaks(rule: Rule, *, lazy: bool = False, **claims: Any) -> Callable[[type[ReferenceClient]], Wrong]:
    """Declare that a subclass of the reference breaks `rule`.

    The client finds what holders share in `self.shared`, its way in at `self.dial`, and the log messages that
    it heard in `self.heard`.

    Args:
        rule: The rule.
        lazy: The client dials at its first verb.
        claims: What the wrong wrapper claims otherwise than the reference.
    """

    def declare(client_type: type[ReferenceClient]) -> Wrong:
        words = re.sub(r"(?<!^)(?=[A-Z])", "_", client_type.__name__).lower()
        name = f"{rule.id.lower().replace('-', '_')}_{words}"
        claimed = replace(CLAIMS, lazy_connect=lazy, **claims)

        @adapter(name, version="wrong", claims=claimed, shared=_fresh)
        async def play(dial: Dial, shared: Shared) -> AsyncIterator[Wrapper]:
            client: Any = client_type(
                lambda: client.open_streams(),
                era=dial.era,
                timeout=LIMIT,
                clock=dial.clock,
                on_log=lambda message: client.heard.append(str(message.data)),
            )
            client.dial, client.shared, client.heard = dial, shared, []
            client.open_streams = partial(streams_of, dial, http_streams)
            client.enter()
            try:
                if not lazy:
                    await client.connect()
                yield replace(wrapper_of(client, client.heard, client.white_box), **client.verbs())
            finally:
                await client.close()

        inside = client_type.__dict__.get("white_box") is not None
        return Wrong(name, rule, (client_type.__doc__ or "").strip(), play, inside)

    return declare
