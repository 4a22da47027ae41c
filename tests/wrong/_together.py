"""A client beside whose verbs one object holds several servers. By itself it breaks nothing."""

from __future__ import annotations

from mcp_conformance_reference.several import SeveralClients

from pytest_mcp_conformance.adapters._reference import LIMIT
from pytest_mcp_conformance.adapters._several import together_of
from tests.wrong._client import Client

__all__ = ["Together"]


class Together(Client):
    """Gives the verb `together`.

    Attributes:
        kind: What holds the clients.
    """

    kind = SeveralClients

    def verbs(self):
        """The verb, with this kind of object."""
        return {"together": together_of(self.kind, LIMIT)}
