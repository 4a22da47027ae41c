"""What a caller has once, for all whom it connects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Configuration"]


class Configuration:
    """One object of headers and one of settings, which are handed out as they are; and an HTTP client.

    Args:
        headers: The headers.
        http_client: An HTTP client of the caller's own, where there is one.

    Attributes:
        headers: The very object that is handed out.
        http_client: As it was given.
    """

    def __init__(self, headers: Mapping[str, str], http_client: Any = None) -> None:
        self.headers = dict(headers)
        self.http_client = http_client
        self._settings: dict[str, Any] | None = None
        self._given: dict[str, Any] = {"headers": dict(headers)}

    def settings(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The very object that is handed out; it is made from what is `wanted` first."""
        if self._settings is None:
            self._settings = {**wanted}
            self._given |= {name: _copied(value) for name, value in wanted.items()}
        return self._settings

    @property
    def changed(self) -> list[str]:
        """The names of what is not as it was given any more; `headers` for anything in the headers."""
        now = {"headers": self.headers, **(self._settings if self._settings is not None else {})}
        names = {*now, *self._given}
        return sorted(name for name in names if now.get(name, self) != self._given.get(name, self))


def _copied(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value
