"""More wrong wrappers of CHK: about what an output schema may be, and what an answer to it."""

from __future__ import annotations

import json
from urllib.request import ProxyHandler, build_opener

from jsonschema import Draft7Validator, Draft202012Validator
from mcp_conformance_reference.checks import OutputCheck
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from pytest_mcp_conformance.contract.checks import (
    EVERY_JSON_VALUE_IS_A_VALUE,
    NETWORK_REFERENCE_IS_NEVER_FETCHED,
    SCHEMA_IS_READ_IN_ITS_OWN_DIALECT,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(EVERY_JSON_VALUE_IS_A_VALUE)
class WhatIsFalseIsMissing(Client):
    """Whether there is structured content is asked of its truth."""

    class check_type(OutputCheck):
        def missing(self, result):
            return not result.structured_content


@breaks(EVERY_JSON_VALUE_IS_A_VALUE)
class NullIsMissing(Client):
    """Whether there is structured content is asked by a comparison with null."""

    class check_type(OutputCheck):
        def missing(self, result):
            return result.structured_content is None


@breaks(EVERY_JSON_VALUE_IS_A_VALUE)
class DemandsAnObject(Client):
    """Structured content that is no object is refused, whatever the schema says."""

    class check_type(OutputCheck):
        def fault(self, result):
            if not isinstance(result.structured_content, dict):
                return "it is no object"
            return super().fault(result)


@breaks(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT)
class OneDialectForAll(Client):
    """Every schema is read as 2020-12."""

    class check_type(OutputCheck):
        def dialect(self, schema):
            return Draft202012Validator


@breaks(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT)
class AnOldDialectByDefault(Client):
    """A schema that names no dialect is read as draft-07."""

    class check_type(OutputCheck):
        def dialect(self, schema):
            return super().dialect(schema) if "$schema" in schema else Draft7Validator


@breaks(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT)
class AnUnknownDialectIsTheNewest(Client):
    """A dialect that is not known is taken for 2020-12."""

    class check_type(OutputCheck):
        def dialect(self, schema):
            known = "json-schema.org" in schema.get("$schema", "")
            return super().dialect(schema) if known else Draft202012Validator


@breaks(NETWORK_REFERENCE_IS_NEVER_FETCHED)
class FetchesReferences(Client):
    """What a schema refers to is fetched from where it is said to be."""

    class check_type(OutputCheck):
        def registry(self):
            return Registry(retrieve=fetched)


def fetched(address):
    with build_opener(ProxyHandler({})).open(address, timeout=5) as answer:
        return DRAFT202012.create_resource(json.load(answer))
