"""The eras that the installed SDK speaks."""

from __future__ import annotations

import pytest

from tests.reference.peer import ERAS


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)
