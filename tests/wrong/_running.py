"""A client whose verb `run` is another agent's. By itself it breaks nothing."""

from __future__ import annotations

from pytest_mcp_conformance.adapters._reference_agent import Agent
from tests.wrong._client import Client

__all__ = ["Runs"]


class Runs(Client):
    """Gives the verb `run`.

    Attributes:
        agent_type: What runs.
    """

    agent_type = Agent

    def verbs(self):
        return {"run": self.agent_type(self).run}
