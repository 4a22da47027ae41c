"""Objects that hold several servers in other ways than that of the reference: none is accused."""

from __future__ import annotations

import pytest
from mcp_conformance_reference.errors import ClientError
from mcp_conformance_reference.several import SeveralClients

from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.contract.tools import (
    SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED,
    TOOLS_OF_ONE_NAME_ARE_TOLD_APART,
)
from pytest_mcp_conformance.scenarios import CATALOGUE, together, together_life
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.wrong._together import Together
from tests.wrong._wrong import breaks
from tests.wrong.together import RefusesTheClash, Unmarked


class BoundUnderOneName(Together):
    """Two tools may have one name; each is bound to its server."""

    class kind(SeveralClients):
        tool_type = Unmarked


class GoesOnWithTheRest(Together):
    """A server that fails is left out, and the others are used."""

    class kind(SeveralClients):
        async def connect(self):
            for name, client in list(self.clients.items()):
                try:
                    await client.connect()
                except ClientError:  # noqa: PERF203
                    del self.clients[name]


class DialsAtTheFirstVerb(Together):
    """Nothing is dialled before the first listing."""

    class kind(SeveralClients):
        async def __aenter__(self):
            return self


RIGHT = [
    breaks(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)(kind).adapter
    for kind in (BoundUnderOneName, GoesOnWithTheRest, DialsAtTheFirstVerb)
]
SEVERAL = tuple(s for s in CATALOGUE if s in [*vars(together).values(), *vars(together_life).values()])
OF_OTHERS = tuple(s for s in SEVERAL if TOOLS_OF_ONE_NAME_ARE_TOLD_APART not in s.rules)
PLAYED = [
    *((right, *cell) for right in RIGHT for cell in cells(right, SEVERAL)),
    *((RefusesTheClash.adapter, *cell) for cell in cells(RefusesTheClash.adapter, OF_OTHERS)),
]


def _id(given):
    subject, scenario, *where = given
    return "-".join(filter(None, (subject.name, scenario.name, *where)))


@pytest.mark.parametrize("given", PLAYED, ids=_id)
def test_another_right_object_breaks_nothing(given):
    subject, scenario, era, variant = given
    played = play(scenario, subject, era=era, variant=variant, compare=False)
    assert not played.trouble
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []
