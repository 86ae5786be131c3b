"""The config as it was read: where each part stood, which parts were used, and what has to be said of the others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gateway.errors import GatewayError
from gateway.policy.positions import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gateway.policy.positions import Path

SECTIONS = ("model_list", "litellm_settings", "router_settings", "general_settings")
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_MERGE = "<<"


class ConfigUnreadable(GatewayError):
    """The file is no config of a LiteLLM proxy; the message says where and why."""


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """One thing that did not carry over as it was.

    Attributes:
        line: Where it stands in the config, from 1.
        path: Which part it is, such as `model_list[0].litellm_params.rpm`.
        carried: Whether it is in the policy, in another form.
        sentence: What happened to it, or what to do about it.
    """

    line: int
    path: str
    carried: bool
    sentence: str


class Source:
    """A config that is read part by part; whatever nobody reads is found at the end.

    Args:
        text: The YAML.
        name: What the file is called.

    Raises:
        ConfigUnreadable: The text is no YAML, or has none of the sections of a config.
    """

    def __init__(self, text: str, name: str) -> None:
        parsed = parse(text)
        if parsed.faults and not parsed.keys:
            fault = parsed.faults[0]
            raise ConfigUnreadable(f"{name}:{fault.place.line}:{fault.place.column}: {fault.message}")
        self._data = _merged(parsed.data)
        if not isinstance(self._data, dict) or not self._data.keys() & set(SECTIONS):
            raise ConfigUnreadable(f"{name} is no config of a LiteLLM proxy: it has none of {', '.join(SECTIONS)}")
        self.text_as_read = text
        self._parsed = parsed
        self._taken: set[Path] = set()
        self._remarks: list[Remark] = []
        for fault in parsed.faults:
            self.leave_out(fault.path, f"{fault.message[:1].upper()}{fault.message[1:]}.")

    def take(self, *path: str | int) -> object:
        """Return a part, or None where there is none; it counts as used."""
        self._taken.add(path)
        return self._at(path)

    def text(self, *path: str | int) -> str | None:
        """Return a part that should be text."""
        value = self.take(*path)
        if value is not None and not isinstance(value, str):
            return self._wrong(path, "text")
        return value or None

    def number(self, *path: str | int) -> Decimal | None:
        """Return a part that should be a number; LiteLLM lets people put quotes around it."""
        value = self.take(*path)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?([eE]-?[0-9]{1,2})?", value):
            value = Decimal(value)
        if value is None or (isinstance(value, int | Decimal) and not isinstance(value, bool)):
            return None if value is None else Decimal(value)
        return self._wrong(path, "a number")

    def flag(self, *path: str | int) -> bool | None:
        """Return a part that should be true or false."""
        value = self.take(*path)
        word = str(value).lower()
        if value is None or word in _TRUE or word in _FALSE:
            return None if value is None else word in _TRUE
        return self._wrong(path, "true or false")

    def items(self, *path: str | int) -> range:
        """Return the indexes of a part that should be a list; its items are yet to be used."""
        value = self._at(path)
        if value is not None and not isinstance(value, list):
            self._wrong(path, "a list")
        return range(len(value) if isinstance(value, list) else 0)

    def keys(self, *path: str | int) -> tuple[str, ...]:
        """Return the keys of a part that should be a mapping; its values are yet to be used."""
        value = self._at(path)
        if value is not None and not isinstance(value, dict):
            self._wrong(path, "a mapping")
        return tuple(value) if isinstance(value, dict) else ()

    def is_mapping(self, *path: str | int) -> bool:
        """Say whether a part is a mapping, where it may be something else."""
        return isinstance(self._at(path), dict)

    def texts(self, *path: str | int) -> list[tuple[Path, str]]:
        """Return the items of a part that should be a list of texts, or one text, each with its path."""
        if isinstance(self._at(path), str):
            return [(path, text)] if (text := self.text(*path)) else []
        return [((*path, at), text) for at in self.items(*path) if (text := self.text(*path, at))]

    def leave_out(self, path: Path, sentence: str) -> None:
        """Say that a part is not in the policy; it counts as used, with all that is in it."""
        self._taken.add(path)
        self._remark(path, sentence, carried=False)

    def change(self, path: Path, sentence: str) -> None:
        """Say that a part is in the policy in another form."""
        self._remark(path, sentence, carried=True)

    def unused(self, opened: Iterable[tuple[str, ...]]) -> Iterator[Path]:
        """Find every part that was not used, the outermost first.

        Args:
            opened: Patterns of paths; what is around one of these, or around a part that was used, is looked into
                rather than told as one.
        """
        around = {path[:length] for path in self._taken for length in range(len(path))}
        patterns = [pattern[:length] for pattern in opened for length in range(1, len(pattern))]
        yield from self._unused((), self._data, around, patterns)

    def remarks(self) -> tuple[Remark, ...]:
        """Return all that was said, in the order of the file."""
        return tuple(sorted(dict.fromkeys(self._remarks)))

    def _unused(self, path: Path, part: object, around: set[Path], patterns: list[tuple[str, ...]]) -> Iterator[Path]:
        for key, child in _children(part):
            here = (*path, key)
            if here in self._taken or child in (None, "", [], {}):
                continue
            looked_into = here in around or any(matches(here, pattern) for pattern in patterns)
            if looked_into and isinstance(child, dict | list):
                yield from self._unused(here, child, around, patterns)
            else:
                yield here

    def _at(self, path: Path) -> object:
        part: object = self._data
        for step in path:
            match part, step:
                case dict(), _:
                    part = part.get(step)
                case list(), int() if step < len(part):
                    part = part[step]
                case _:
                    return None
        return part

    def _wrong(self, path: Path, shape: str) -> None:
        value = self._at(path)
        if isinstance(value, str) and value.startswith("os.environ/"):
            return self.leave_out(
                path, "Comes from the environment, which the policy reads for secrets and addresses only."
            )
        return self.leave_out(path, f"Should be {shape}.")

    def _remark(self, path: Path, sentence: str, *, carried: bool) -> None:
        line = self._parsed.place_of(path, key=True).line
        self._remarks.append(Remark(line, described(path), carried, sentence))


def described(path: Path) -> str:
    """Write a path as in `model_list[0].model_name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def matches(path: Path, pattern: tuple[str, ...]) -> bool:
    """Say whether a path is one that a pattern names; `*` stands for any part of a step."""
    return len(path) == len(pattern) and all(
        fnmatchcase(str(step), name) for step, name in zip(path, pattern, strict=True)
    )


def _children(part: object) -> Iterable[tuple[str | int, object]]:
    return part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()


def _merged(part: object) -> object:
    """Resolve YAML's merge keys (`<<: *defaults`); what a mapping says itself comes before what is merged into it."""
    if isinstance(part, list):
        return [_merged(item) for item in part]
    if not isinstance(part, dict):
        return part
    own: dict[str, object] = {key: _merged(value) for key, value in part.items() if key != _MERGE}
    merged: Mapping[str, object] = {}
    sources = part.get(_MERGE)
    for each in sources if isinstance(sources, list) else [sources]:
        merged = {**(each if isinstance(each := _merged(each), dict) else {}), **merged}
    return {**merged, **own}
