"""A double of the SDK: one that forgets its checks, and lists unseen, where Python's SDK does neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Forgetful"]


@dataclass(frozen=True)
class Forgetful:
    """Asks `dial.session(double=...)` for an SDK session that forgets, as the SDK for TypeScript 1.32 does.

    Each answer to a `list_tools` replaces the per-tool checks. The old ones are cleared before the new ones
    are compiled, so that a schema that does not compile fails the listing, and leaves its own tool and the
    ones behind it unchecked. A tool without a check is called all the same; its answer is not looked at.

    Attributes:
        auto_refresh: In the handshake era the session lists by itself after each notice that the tools have
            changed, and tells nobody.
    """

    auto_refresh: bool = False

    def session(self, read: Any, write: Any) -> Any:
        """The session over one stream pair, not yet entered."""
        from pytest_mcp_conformance.server.ways._forgetful import ForgetfulSession  # it needs the SDK

        return ForgetfulSession(read, write, auto_refresh=self.auto_refresh)
