"""YAML as plain data that remembers where each part stood.

The dialect is YAML 1.2's core schema, so that `off`, `yes`, `22:00` and dates are text. Numbers with a point or an
exponent are `Decimal`. Keys are always text, and unique. Nothing but data can be made: a tag outside the core
schema is a fault, and size, depth and the growth of aliases are bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

import yaml

from gateway.policy.syntax import slip

Path = tuple[str | int, ...]
"""Keys and list indexes from the top of the document down."""

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 32
MAX_NODES = 100_000
_CORE = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,18}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,2})?")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_NULL = re.compile(r"~|null|Null|NULL|")
_SHAPES = {"int": _INT, "float": _DECIMAL, "bool": _BOOL, "null": _NULL}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text; line and column count from 1."""

    line: int
    column: int


TOP = Place(1, 1)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that YAML or its plain-data subset does not allow."""

    place: Place
    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document as plain data.

    Attributes:
        data: Dicts with text keys, lists, text, `int`, `Decimal`, `bool` and None.
        keys: Where each key stood.
        values: Where each value stood.
        faults: What was wrong; the parts concerned are missing from `data`.
    """

    data: object
    keys: dict[Path, Place] = field(default_factory=dict[Path, Place])
    values: dict[Path, Place] = field(default_factory=dict[Path, Place])
    faults: list[Fault] = field(default_factory=list[Fault])

    def place_of(self, path: Path, *, key: bool = False) -> Place:
        """Find where a part stood, or the nearest part around it that did stand somewhere."""
        first, second = (self.keys, self.values) if key else (self.values, self.keys)
        for length in range(len(path), -1, -1):
            place = first.get(path[:length]) or second.get(path[:length])
            if place is not None:
                return place
        return TOP


def parse(text: str) -> Parsed:
    """Parse one YAML document. Faults are in the result; nothing is raised for anything a text can hold."""
    if len(text) > MAX_CHARACTERS:
        return Parsed({}, faults=[Fault(TOP, (), f"is longer than {MAX_CHARACTERS} characters")])
    parsed = Parsed({})
    try:
        loader = _Loader(text.removeprefix("\ufeff"))
        root = loader.get_single_node()
        data = {} if root is None else _Reader(parsed).read(root, ())
    except yaml.MarkedYAMLError as error:
        line, column, message = slip(error, text)
        return Parsed({}, faults=[Fault(Place(line, column), (), message)])
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, error.position - before.rfind("\n"))
        return Parsed({}, faults=[Fault(place, (), f"holds the character {error.character:#x}, which YAML forbids")])
    except _TooMuch as error:
        return Parsed({}, faults=[*parsed.faults, error.fault])
    return Parsed(data, parsed.keys, parsed.values, parsed.faults)


class _TooMuch(Exception):
    def __init__(self, node: yaml.Node | yaml.Event, path: Path, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(Place(node.start_mark.line + 1, node.start_mark.column + 1), path, message)


class _Loader(yaml.SafeLoader):
    """PyYAML's composer with the core schema's reading of plain scalars, and a bound on nesting."""

    yaml_implicit_resolvers: ClassVar = {
        None: [(_CORE + name, re.compile(f"^(?:{shape.pattern})$")) for name, shape in _SHAPES.items()]
    }
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self._depth > MAX_DEPTH:
            raise _TooMuch(self.peek_event(), (), f"is nested more than {MAX_DEPTH} levels deep")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _Reader:
    """Turns nodes into data. Aliases are expanded, so nodes are counted as often as they are used."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._nodes = 0

    def read(self, node: yaml.Node, path: Path) -> object:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise _TooMuch(node, path, "grows too large or too deep through aliases")
        self._parsed.values[path] = _place(node)
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        return self._fault(node, path, f"has a tag that is not allowed here: {node.tag}")

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fault(key, path, "has a key that is not text")
            elif key.value in mapping:
                first = self._parsed.keys[*path, key.value]
                self._fault(key, (*path, key.value), f"is given twice; the first is on line {first.line}")
            else:
                self._parsed.keys[*path, key.value] = _place(key)
                mapping[key.value] = self.read(value, (*path, key.value))
        return mapping

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> object:
        name, text = node.tag.removeprefix(_CORE), node.value
        if name == "str":
            return text
        shape = _SHAPES.get(name)
        if shape is None or not shape.fullmatch(text):
            return self._fault(node, path, f"has a tag that is not allowed here: {node.tag}")
        match name:
            case "int":
                return int(text)
            case "float":
                return Decimal(text)
            case "bool":
                return text.lower() == "true"
            case _:
                return None

    def _fault(self, node: yaml.Node, path: Path, message: str) -> None:
        self._parsed.faults.append(Fault(_place(node), path, message))


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
