"""Where adapters come from: hooks, fixtures, the ini file, and the bundled ones by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp_conformance.adapters import BUNDLED, bundled
from pytest_mcp_conformance.contract import Adapter, UsageError
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.reports.text import clean, closest

__all__ = ["Found", "choose", "from_bundled", "from_hooks", "from_ini"]

HOOK = "pytest_mcp_adapters"
INI = "mcp_adapters"


@dataclass(frozen=True)
class Found:
    """An adapter, and where it was found.

    Attributes:
        adapter: The adapter.
        place: Where it comes from, for a message.
        parent: For a fixture: the collector under which it can be seen.
        params: For a parametrized fixture: its parameters, by the names of the fixtures that take them.
    """

    adapter: Adapter
    place: str
    parent: pytest.Collector | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def from_hooks(config: pytest.Config, under: Path | None = None) -> list[Found]:
    """What `pytest_mcp_adapters` gives in every plugin and conftest.py.

    Args:
        config: The run.
        under: Only conftest files that stand above this path.

    Raises:
        UsageError: A hook raised, or returned something else than adapters.
    """
    manager = config.pluginmanager
    found = []
    holders = {id(impl.plugin): impl.plugin for impl in getattr(config.hook, HOOK).get_hookimpls()}
    for plugin in holders.values():
        place = f"{HOOK} in {_name_of(config, plugin)}"
        if under is not None and not _is_above(config, plugin, under):
            continue
        others = [other for other in manager.get_plugins() if other is not plugin]
        try:
            returned = manager.subset_hook_caller(HOOK, others)(config=config)
        except Exception as error:
            raise UsageError(f"{place} raised {clean(describe(error))}{_line_of(error)}") from None
        for adapters in returned:
            found += [Found(adapter, place) for adapter in _adapters_in(adapters, place)]
    return found


def from_ini(config: pytest.Config) -> list[Found]:
    """The adapters that the ini option `mcp_adapters` names: bundled ones, or `module:name`.

    Raises:
        UsageError: A name leads to no adapter.
    """
    place = f"{INI} in {_relative(config, config.inipath)}"
    names = [name for line in config.getini(INI) for name in line.split()]
    return [_from_name(name, place) for name in names]


def from_bundled(name: str, asked: str) -> Found:
    """A bundled adapter whose package is installed.

    Args:
        name: Its name.
        asked: Who asked for it, for the message.

    Raises:
        UsageError: Its package cannot be imported.
    """
    try:
        return Found(bundled()[name], f"bundled adapter {name}")
    except Exception as error:
        raise UsageError(
            f"{asked}: importing {BUNDLED[name]} for the bundled adapter {name} raised "
            f"{clean(describe(error))}{_line_of(error)}"
        ) from None


def choose(found: Iterable[Found], patterns: Sequence[str]) -> list[Found]:
    """The adapters that a run is about.

    Args:
        found: What hooks, fixtures and the ini file name.
        patterns: Names and globs of `--mcp-wrapper`; bundled adapters take part when there are any.

    Raises:
        UsageError: There is no adapter, two bear one name, or a pattern fits none.
    """
    named = list(found)
    if not patterns:
        if not named:
            raise UsageError(_none_at_all())
        return list(_by_name(named).values())
    names = [*(each.adapter.name for each in named), *bundled()]
    picked: list[Found] = []
    for pattern in patterns:
        if not (fitting := [name for name in names if fnmatchcase(name, pattern)]):
            raise UsageError(_no_such(pattern, names))
        picked += [each for each in named if each.adapter.name in fitting]
        picked += [from_bundled(name, f"--mcp-wrapper={pattern}") for name in bundled() if name in fitting]
    chosen = _by_name(picked)
    return [chosen[name] for name in dict.fromkeys(names) if name in chosen]


def _by_name(found: Iterable[Found]) -> dict[str, Found]:
    by_name: dict[str, Found] = {}
    for each in found:
        first = by_name.setdefault(each.adapter.name, each)
        if first.adapter is not each.adapter:
            raise UsageError(
                f"two adapters are called {each.adapter.name!r}: one by {first.place}, one by {each.place}; "
                "rename one"
            )
    return by_name


def _adapters_in(returned: Any, place: str) -> Iterable[Adapter]:
    remedy = "return a list of adapters, each made by @adapter(...)"
    if isinstance(returned, Adapter):
        raise UsageError(f"{place} returned the adapter {returned.name!r} alone; {remedy}")
    if not isinstance(returned, list | tuple):
        raise UsageError(f"{place} returned {clean(repr(returned))}; {remedy}")
    for each in returned:
        if not isinstance(each, Adapter):
            raise UsageError(f"{place} returned {clean(repr(each))} in its list; {remedy}")
    return returned


def _from_name(name: str, place: str) -> Found:
    if name in bundled():
        return from_bundled(name, f"{place} names {name}")
    if name in BUNDLED:
        raise UsageError(f"{place} names {name}: {_not_installed(name)}")
    module, colon, attribute = name.partition(":")
    if not colon:
        near = closest(name, list(bundled()))
        raise UsageError(
            f"{place} names {name!r}, which is no bundled adapter ({near}); write one, or module:name"
        )
    try:
        holder = import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _parents(module):
            raise UsageError(
                f"{place} names {name}: there is no module {error.name!r}; "
                "install it, or name its folder in the ini option pythonpath"
            ) from None
        at = "" if isinstance(error, SyntaxError) else _line_of(error)
        raise UsageError(
            f"{place} names {name}, and importing {module} raised {clean(describe(error))}{at}"
        ) from None
    if not hasattr(holder, attribute):
        adapters = [key for key, value in vars(holder).items() if isinstance(value, Adapter)]
        raise UsageError(
            f"{place} names {name}: {module} has no {attribute!r}; {closest(attribute, adapters)}"
        )
    value = getattr(holder, attribute)
    if not isinstance(value, Adapter):
        raise UsageError(f"{place} names {name}, which is {clean(repr(value))}; name what @adapter(...) made")
    return Found(value, f"{place} ({name})")


def _none_at_all() -> str:
    names = list(bundled())
    choice = (
        f"name a bundled one, --mcp-wrapper={names[0]} (installed here: {', '.join(names)})"
        if names
        else ("no bundled one is installed")
    )
    return (
        f"--mcp-conformance: there is no adapter; return one from {HOOK}(config) in a conftest.py, write a "
        f"fixture mcp_adapter there, set {INI} in the ini file, or {choice}"
    )


def _no_such(pattern: str, names: list[str]) -> str:
    if pattern in BUNDLED:
        return f"--mcp-wrapper={pattern}: {_not_installed(pattern)}"
    names = list(dict.fromkeys(names))
    hint = closest(pattern, names)
    known = f"; known are {', '.join(names)}" if "?" in hint else ""
    return f"--mcp-wrapper={pattern}: no adapter is called that; {hint}{known}"


def _not_installed(name: str) -> str:
    return (
        f"this bundled adapter needs {BUNDLED[name]}, which is not installed here; install it, "
        f"or take one of {', '.join(bundled())} instead of {name}"
    )


def _name_of(config: pytest.Config, plugin: object) -> str:
    file = getattr(plugin, "__file__", None)
    return _relative(config, Path(file)) if file else str(config.pluginmanager.get_name(plugin))


def _is_above(config: pytest.Config, plugin: object, path: Path) -> bool:
    name = config.pluginmanager.get_name(plugin) or ""
    return not name.endswith("conftest.py") or Path(name).parent in path.parents


def _relative(config: pytest.Config, path: Path | None) -> str:
    if path is None:
        return "the command line"
    return str(path.relative_to(config.rootpath)) if path.is_relative_to(config.rootpath) else str(path)


def _parents(module: str) -> set[str]:
    """A module's own dotted name, and those of the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[:number]) for number in range(1, len(parts) + 1)}


def _line_of(error: BaseException) -> str:
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f" at {at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else ""
