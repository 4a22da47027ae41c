"""What the run of these tests would tell the runs inside them."""

__all__ = ["forget_the_run_around"]

_TOLD = (
    "PYTEST_ADDOPTS",
    "CI",
    "BUILD_NUMBER",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_WORKER_COUNT",
    "PYTEST_XDIST_TESTRUNUID",
)


def forget_the_run_around(monkeypatch):
    """Have a run inside begin as one that a user starts."""
    for name in _TOLD:
        monkeypatch.delenv(name, raising=False)
