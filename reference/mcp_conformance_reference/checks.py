"""Whether an answer keeps what its tool's output schema promises: decided before the call, judged after."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from jsonschema import Draft202012Validator, validators
from referencing.jsonschema import specification_with

from mcp_conformance_reference.definitions import Definition
from mcp_conformance_reference.errors import CheckFailed, SchemaUnusable
from mcp_conformance_reference.results import CallResult

__all__ = ["OutputCheck", "resolve_all"]

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_METASCHEMAS: Any = import_module("jsonschema_specifications").REGISTRY


class OutputCheck:
    """Judges the results of one tool by one definition of it.

    Args:
        definition: The definition in force when the call is sent.

    Raises:
        SchemaUnusable: The schema does not compile, or is of an unknown dialect.
    """

    def __init__(self, definition: Definition) -> None:
        self._name = definition.name
        schema = definition.output_schema
        self._validator: Any = None if schema is None else self.compile(schema)

    def compile(self, schema: Any) -> Any:
        """A validator for a schema, all of whose references are known to resolve without the network.

        Raises:
            SchemaUnusable: There is none.
        """
        if not isinstance(schema, dict):
            raise SchemaUnusable(self._name, f"it is {schema!r}, not an object")
        dialect = self.dialect(schema)
        try:
            dialect.check_schema(schema)
            resource = specification_with(dialect.META_SCHEMA["$schema"]).create_resource(schema)
            registry = self.registry()
            resolve_all(resource, registry.resolver_with_root(resource))
            return dialect(schema, registry=registry)
        except Exception as error:
            reason = getattr(error, "message", "") or str(error) or repr(error)
            raise SchemaUnusable(self._name, reason) from error

    def dialect(self, schema: dict[str, Any]) -> Any:
        """The dialect a schema is written in: 2020-12 unless it says otherwise.

        Raises:
            SchemaUnusable: It says something unknown.
        """
        if "$schema" not in schema:
            return Draft202012Validator
        known: Any = None
        if isinstance(schema["$schema"], str):
            known = validators.validator_for(schema, default=None)  # type: ignore[arg-type]
        if known is None:
            raise SchemaUnusable(self._name, f"its dialect {schema['$schema']!r} is unknown")
        return known

    def registry(self) -> Any:
        """Where references out of the schema resolve: to the published metaschemas, never to a network."""
        return _METASCHEMAS

    def judge(self, result: CallResult) -> CallResult:
        """Give a result back if it keeps the promise.

        Raises:
            CheckFailed: It does not. The result is in the error.
        """
        reason = self.fault(result) if self._validator is not None and self.promised(result) else None
        if reason is not None:
            raise CheckFailed(self._name, reason, result)
        return result

    def promised(self, result: CallResult) -> bool:
        """Whether the promise holds for this result: a tool that failed promised nothing."""
        return not result.is_error

    def fault(self, result: CallResult) -> str | None:
        """What is wrong with a result; None if nothing is."""
        if self.missing(result):
            return "there is no structuredContent"
        try:
            worst = next(iter(self._validator.iter_errors(result.structured_content)), None)
        except RecursionError:
            return "the schema refers to itself without end"
        return None if worst is None else f"at {worst.json_path}: {worst.message}"

    def missing(self, result: CallResult) -> bool:
        """Whether there is nothing to judge: null, false, 0 and empty ones are values."""
        return not result.has_structured_content


def resolve_all(resource: Any, resolver: Any) -> None:
    """Resolve every reference of a schema and of its subschemas.

    Raises:
        referencing.exceptions.Unresolvable: One of them leads nowhere.
    """
    if isinstance(resource.contents, Mapping):
        for key in _REFERENCES:
            if isinstance(reference := resource.contents.get(key), str):
                resolver.lookup(reference)
    for inside in resource.subresources():
        resolve_all(inside, resolver.in_subresource(inside))
