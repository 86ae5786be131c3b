"""The policy's JSON Schema, draft 2020-12, which editors complete and check a policy with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.policy.document import Policy

if TYPE_CHECKING:
    from gateway.policy.positions import Path


def policy_schema() -> dict[str, Any]:
    """Build the schema of a policy document."""
    schema = Policy.model_json_schema()
    _close(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Sluice policy"}


def fields_at(schema: dict[str, Any], path: Path) -> set[str]:
    """Name the fields that a part of a document may have, whichever of its forms it takes."""
    nodes = _forms(schema, schema)
    for step in path:
        nodes = [form for node in nodes for child in _children(node, step) for form in _forms(schema, child)]
    return {name for node in nodes for name in node.get("properties", {})}


def _close(node: object) -> None:
    """Refuse keys that fit no pattern: pydantic refuses them, but its schema leaves mappings open."""
    if isinstance(node, dict):
        if "patternProperties" in node:
            node["additionalProperties"] = False
        for child in node.values():
            _close(child)
    elif isinstance(node, list):
        for child in node:
            _close(child)


def _forms(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in node:
        return _forms(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    variants = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    return [node, *(form for variant in variants for form in _forms(schema, variant))]


def _children(node: dict[str, Any], step: str | int) -> list[dict[str, Any]]:
    if isinstance(step, int):
        return [node["items"]] if "items" in node else []
    if step in node.get("properties", {}):
        return [node["properties"][step]]
    open_ended = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
    return [child for child in open_ended if isinstance(child, dict)]
