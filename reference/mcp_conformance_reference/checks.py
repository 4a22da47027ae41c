"""Whether an answer keeps what the tool's output schema promises. Decided before the call, judged after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_specifications
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.jsonschema import specification_with

from mcp_conformance_reference.definitions import Definition
from mcp_conformance_reference.errors import CheckFailed, SchemaUnusable
from mcp_conformance_reference.results import CallResult

__all__ = ["OutputCheck"]

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


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
        self._validator = None if schema is None else self.compile(schema)

    def compile(self, schema: Any) -> Validator:
        """A validator for a schema all of whose references are known to resolve without the network."""
        if not isinstance(schema, dict):
            raise SchemaUnusable(self._name, f"it is {schema!r}, not an object")
        dialect = self.dialect(schema)
        try:
            dialect.check_schema(schema)
            registry = self.registry()
            resource = specification_with(str(dialect.META_SCHEMA["$schema"])).create_resource(schema)
            resolve_all(resource, registry.resolver_with_root(resource))
            return dialect(schema, registry=registry)
        except Exception as error:
            raise SchemaUnusable(self._name, getattr(error, "message", "") or str(error) or repr(error)) from error

    def dialect(self, schema: dict[str, Any]) -> Any:
        """The dialect a schema is written in: 2020-12 unless it says otherwise.

        Raises:
            SchemaUnusable: It says something unknown.
        """
        if "$schema" not in schema:
            return Draft202012Validator
        try:
            dialect = validator_for(schema, default=None)
        except Exception:
            dialect = None
        if dialect is None:
            raise SchemaUnusable(self._name, f"its dialect {schema['$schema']!r} is unknown")
        return dialect

    def registry(self) -> Any:
        """Where references outside the schema resolve: the published metaschemas, and nothing from a network."""
        return jsonschema_specifications.REGISTRY.combine(Registry())

    def judge(self, result: CallResult) -> CallResult:
        """Give a result back if it keeps the promise.

        Raises:
            CheckFailed: It does not. The result is in the error.
        """
        if self._validator is None or not self.judged(result):
            return result
        reason = self.fault(result)
        if reason is not None:
            raise CheckFailed(self._name, reason, result)
        return result

    def judged(self, result: CallResult) -> bool:
        """Whether the promise holds for this result: a tool that failed promised nothing."""
        return not result.is_error

    def fault(self, result: CallResult) -> str | None:
        """What is wrong with a result, None if nothing is."""
        if not result.has_structured_content:
            return "there is no structuredContent"
        assert self._validator is not None
        try:
            errors = list(self._validator.iter_errors(result.structured_content))
        except RecursionError:
            return "the schema refers to itself without end"
        if not errors:
            return None
        worst = errors[0]
        return f"at {worst.json_path}: {worst.message}"


def resolve_all(resource: Any, resolver: Any) -> None:
    """Resolve every reference of a schema and its subschemas.

    Raises:
        referencing.exceptions.Unresolvable: One of them leads nowhere.
    """
    if isinstance(resource.contents, Mapping):
        for key in _REFERENCES:
            if isinstance(reference := resource.contents.get(key), str):
                resolver.lookup(reference)
    for inside in resource.subresources():
        resolve_all(inside, resolver.in_subresource(inside))
