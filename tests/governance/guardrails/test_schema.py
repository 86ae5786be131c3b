"""Whether a value has a shape, held against the reference implementation."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.guardrails.schema import BadSchema, Schema

SCHEMAS: tuple[Any, ...] = (
    True,
    False,
    {},
    {"type": ["integer", "null"]},
    {"type": "number", "minimum": 0, "exclusiveMaximum": 3},
    {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^a"},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    {"properties": {"a": True}, "additionalProperties": {"type": "string"}},
    {"type": "array", "items": {"enum": [1, "a", None]}, "minItems": 1, "maxItems": 3, "uniqueItems": True},
    {"anyOf": [{"type": "string"}, {"const": 1}], "not": {"const": "a"}},
    {"oneOf": [{"minimum": 1}, {"type": "integer"}], "title": "said, and nothing more"},
    {"allOf": [{"minProperties": 1}, {"maxProperties": 2}]},
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "a", "ab", "b", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=5,
)


@given(schema=st.sampled_from(SCHEMAS), value=values)
def test_it_says_what_the_reference_says(schema: Any, value: Any) -> None:
    assert Schema(schema).fits(value) == jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [1, {"$ref": "#"}, {"type": "text"}, {"pattern": "(a+)+"}, {"minimum": "1"}, {"properties": []}, {"minLength": -1}],
)
def test_a_schema_that_would_not_be_obeyed_is_refused(schema: Any) -> None:
    with pytest.raises(BadSchema):
        Schema(schema)
