"""What makes two declarations of a server the same connection.

Source: the seed mcp-connection-pool.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

__all__ = ["Declaration", "key_of", "read_declaration"]


@dataclass(frozen=True)
class Declaration:
    """One reading of a server's declaration, which both the key and the dial are made from.

    Attributes:
        name: The server's name.
        transport: Every member of the transport but `kind`, as plain data.
        fingerprint: What the host tells two mounts apart by; None where none is declared.
        elicits: Whether the server may ask questions of whoever uses it.
    """

    name: Any
    transport: dict[str, Any]
    fingerprint: Any
    elicits: bool


def read_declaration(declaration: Mapping[str, Any]) -> Declaration:
    """Read each member of a declaration once.

    Args:
        declaration: `name`; `transport`, a mapping of everything that the dial reads (`command`, `args`,
            `env`, `cwd`, `url`, `headers` and more), in which `kind` is left unread; perhaps `fingerprint`
            and `elicitation`.

    Raises:
        ValueError: A member is no plain data: text, number, path, list or mapping with text for keys.
    """
    transport = declaration.get("transport") or {}
    return Declaration(
        name=_plain(declaration.get("name"), "name"),
        transport={
            member: _plain(transport[member], f"transport.{member}")
            for member in transport
            if member != "kind"
        },
        fingerprint=_plain(declaration.get("fingerprint"), "fingerprint"),
        elicits=bool(declaration.get("elicitation")),
    )


def key_of(
    declaration: Mapping[str, Any] | Declaration,
    principal: str | None,
    kind: str | None,
    startup: float | None,
) -> str | None:
    """The key that a declaration leases under.

    Two keys are equal only if every field is; a map's order is not a field. It is a digest, so that it can be
    logged although a declaration holds secrets.

    Args:
        declaration: A declaration, or one reading of it.
        principal: Under whose name the task runs; None where there is none, which is no name.
        kind: The transport's kind, as the dial read it.
        startup: The bound that the dial runs under, in seconds; None where no bound is in force.

    Returns:
        64 hexadecimal digits. None where the server opted in to elicitation: the answers to its questions
        belong to the leg that waits for them, so its connection is never shared.

    Raises:
        ValueError: See `read_declaration`.
    """
    read = declaration if isinstance(declaration, Declaration) else read_declaration(declaration)
    if read.elicits:
        return None
    fields = [read.name, kind, read.transport, principal]
    if read.fingerprint is not None:
        fields.append({"fingerprint": read.fingerprint})
    if startup is not None:
        fields.append({"startup": float(startup)})
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any, where: str) -> Any:
    """A copy as plain data, each part read once."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, os.PathLike):
        return _plain(os.fspath(value), where)
    if isinstance(value, Mapping):
        named = {name: _plain(part, f"{where}.{name}") for name, part in value.items()}
        if all(isinstance(name, str) for name in named):
            return named
    if isinstance(value, list | tuple):
        return [_plain(part, f"{where}[{place}]") for place, part in enumerate(value)]
    raise ValueError(f"{where} is {type(value).__name__}: declare it as text, number, path, list or mapping")
