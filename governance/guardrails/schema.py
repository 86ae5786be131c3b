"""Whether a value of JSON has a certain shape.

Spec: JSON Schema, draft 2020-12, "Validation", as far as the keywords below go. A schema with any other keyword is
refused when it is read: one that is not obeyed would be a promise that is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from governance.policy.patterns import LONGEST_TEXT, parse_pattern

_MOST_DEEP: Final = 32
_SAYS_NOTHING: Final = frozenset({"$schema", "$id", "title", "description", "default", "examples", "$comment"})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and float(cast("float", value)).is_integer(),
}

_Check = Callable[[Any], bool]


class BadSchema(ValueError):
    """A schema that is none, or says what is not understood here."""


class Schema:
    """A shape that values may have.

    Args:
        schema: The schema, as JSON has it.

    Raises:
        BadSchema: It is none, or has a keyword that is not obeyed here.
    """

    def __init__(self, schema: object) -> None:
        self.source = schema
        self._checks = _compiled(schema, 0)

    def fits(self, value: object) -> bool:
        """Say whether a value, as JSON is decoded, has the shape."""
        return self._checks(value)


def _compiled(schema: object, depth: int) -> _Check:
    if isinstance(schema, bool):
        return lambda _: schema
    if not isinstance(schema, Mapping) or depth > _MOST_DEEP:
        raise BadSchema("should be an object, or true or false" if depth <= _MOST_DEEP else "is nested too deep")
    fields = cast("Mapping[str, Any]", schema)
    unknown = sorted(set(map(str, fields)) - _KEYWORDS.keys() - _SAYS_NOTHING - {"additionalProperties"})
    if unknown:
        raise BadSchema(f"has the keyword {unknown[0]!r}, which is not obeyed here")
    try:
        checks = [_KEYWORDS[name](said, depth + 1) for name, said in fields.items() if name in _KEYWORDS]
        if "additionalProperties" in fields:
            known = frozenset(fields.get("properties", ()))
            checks.append(_additional(known, _compiled(fields["additionalProperties"], depth + 1)))
    except (TypeError, AttributeError, KeyError) as error:
        raise BadSchema("has a keyword with a value that means nothing") from error
    return lambda value: all(check(value) for check in checks)


def _same(one: object, other: object) -> bool:
    """Compare as JSON does: true is not 1."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _type(said: str | Sequence[str], _: int) -> _Check:
    kinds = [_TYPES[name] for name in ([said] if isinstance(said, str) else said)]
    return lambda value: any(kind(value) for kind in kinds)


def _enum(said: Sequence[object], _: int) -> _Check:
    return lambda value: any(_same(value, one) for one in said)


def _const(said: object, _: int) -> _Check:
    return lambda value: _same(value, said)


def _properties(said: Mapping[str, object], depth: int) -> _Check:
    parts = {name: _compiled(schema, depth) for name, schema in said.items()}
    return lambda value: (
        not isinstance(value, dict) or all(check(value[name]) for name, check in parts.items() if name in value)
    )


def _additional(known: frozenset[str], check: _Check) -> _Check:
    return lambda value: (
        not isinstance(value, dict) or all(check(part) for name, part in value.items() if name not in known)
    )


def _required(said: Sequence[str], _: int) -> _Check:
    names = [*said]
    return lambda value: not isinstance(value, dict) or all(name in value for name in names)


def _items(said: object, depth: int) -> _Check:
    check = _compiled(said, depth)
    return lambda value: not isinstance(value, list) or all(check(part) for part in value)


def _pattern(said: object, _: int) -> _Check:
    try:
        pattern = parse_pattern(said)
    except ValueError as error:
        raise BadSchema("has a pattern that is none, or may take too long") from error
    return lambda value: (
        not isinstance(value, str) or (len(value) <= LONGEST_TEXT and pattern.search(value) is not None)
    )


def _bound(holds: Callable[[float, float], bool]) -> Callable[[float, int], _Check]:
    def keyword(said: float, _: int) -> _Check:
        if not _is_number(said):
            raise TypeError
        return lambda value: not _is_number(value) or holds(value, said)

    return keyword


def _size(kind: type, holds: Callable[[int, int], bool]) -> Callable[[int, int], _Check]:
    def keyword(said: int, _: int) -> _Check:
        if not _is_number(said) or said < 0:
            raise TypeError
        return lambda value: not isinstance(value, kind) or holds(len(value), said)

    return keyword


def _several(holds: Callable[[int, int], bool]) -> Callable[[Sequence[object], int], _Check]:
    def keyword(said: Sequence[object], depth: int) -> _Check:
        checks = [_compiled(schema, depth) for schema in said]
        return lambda value: holds(sum(check(value) for check in checks), len(checks))

    return keyword


def _not(said: object, depth: int) -> _Check:
    check = _compiled(said, depth)
    return lambda value: not check(value)


def _unique(said: object, _: int) -> _Check:
    if not isinstance(said, bool):
        raise TypeError
    return lambda value: (
        not said
        or not isinstance(value, list)
        or not any(_same(a, b) for at, a in enumerate(value) for b in value[:at])
    )


_KEYWORDS: Final[Mapping[str, Callable[[Any, int], _Check]]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "properties": _properties,
    "required": _required,
    "items": _items,
    "pattern": _pattern,
    "minimum": _bound(lambda value, bound: value >= bound),
    "maximum": _bound(lambda value, bound: value <= bound),
    "exclusiveMinimum": _bound(lambda value, bound: value > bound),
    "exclusiveMaximum": _bound(lambda value, bound: value < bound),
    "minLength": _size(str, lambda size, bound: size >= bound),
    "maxLength": _size(str, lambda size, bound: size <= bound),
    "minItems": _size(list, lambda size, bound: size >= bound),
    "maxItems": _size(list, lambda size, bound: size <= bound),
    "minProperties": _size(dict, lambda size, bound: size >= bound),
    "maxProperties": _size(dict, lambda size, bound: size <= bound),
    "uniqueItems": _unique,
    "anyOf": _several(lambda fit, _: fit > 0),
    "oneOf": _several(lambda fit, _: fit == 1),
    "allOf": _several(lambda fit, of: fit == of),
    "not": _not,
}
