"""How many examples are tried says nothing of how long one takes: a loaded machine fails nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("at leisure", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("at leisure")
