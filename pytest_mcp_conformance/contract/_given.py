"""Names that the author of an adapter writes by hand: an error tells what was probably meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from ._errors import AdapterError

__all__ = ["must_be_known"]


def must_be_known(
    maker: str, kind: str, unnamed: int, given: Collection[str], known: Collection[str]
) -> None:
    """Refuse what `maker` does not take.

    Args:
        maker: What is called: `Claims` or `Wrapper`.
        kind: What its arguments are, in a word.
        unnamed: How many arguments have no name.
        given: The names of the others.
        known: The names that there are.

    Raises:
        AdapterError: An argument has no name, or a name that is not known.
    """
    if unnamed:
        raise AdapterError(
            f"{maker}(...): write the name of each {kind}, as in {maker}({next(iter(known))}=...)"
        )
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}"
            raise AdapterError(f"{maker}({name}=...): no {kind} is called that; {hint}")
