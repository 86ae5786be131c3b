"""The texts in the chunks of an answer, each passed through a filter of its own that may hold some of it back.

A text of a stream is what `Fold` would join: the same field of the same choice, and of the same call. When a choice
turns from one field to another, or ends, what its filters still hold is said first.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from gateway.steps.guarding.bodies import ARGUMENTS, STRUCTURE
from gateway.wire.fold import objects

Place = tuple[str | int, ...]
"""The names and indexes that lead to a text in a delta."""

_HEAD: Final = frozenset({"id", "object", "created", "model", "system_fingerprint", "provider"})
"""Fields that every chunk of an answer repeats."""

_HELD: Final = object()


class Filter(Protocol):
    """What one text passes through."""

    def feed(self, piece: str) -> str:
        """Take in what comes next, and return what may go on."""
        ...

    def end(self) -> str:
        """Return the rest."""
        ...


class Rewriting:
    """The chunks of one answer; `make` makes the filter of a text, given its choice and whether it is JSON."""

    def __init__(self, make: Callable[[int, bool], Filter]) -> None:
        self._make = make
        self._filters: dict[int, dict[Place, Filter]] = {}
        self._field: dict[int, str] = {}

    def rewrite(self, chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the chunks that say what may go on after a chunk has come."""
        choices = chunk.get("choices")
        if not choices:
            yield chunk
            return
        head = {name: value for name, value in chunk.items() if name in _HEAD}
        beside = {name: value for name, value in chunk.items() if name not in _HEAD and name != "choices"}
        said = [part for choice in objects(choices) for part in self._choice(choice)]
        for place, part in enumerate(said):
            yield head | {"choices": [part]} | (beside if place == len(said) - 1 else {})
        if not said and beside:
            yield head | {"choices": []} | beside

    def _choice(self, choice: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = choice.get("index")
        index = said if type(said) is int else 0
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        field = next((name for name, value in delta.items() if value and name not in STRUCTURE), None)
        if field is not None and field != self._field.setdefault(index, field):
            self._field[index] = field
            yield from self._rest(index, apart_from=frozenset(delta))
        passed = self._passed(delta, (), index)
        rest = {name: value for name, value in choice.items() if name not in {"index", "delta", "logprobs"}}
        ends = bool(rest.get("finish_reason"))
        delta = passed if isinstance(passed, dict) else {}
        if ends and delta:
            yield _part(index, delta)
            delta = {}
        if ends:
            yield from self._rest(index)
        if delta or ends or passed is not _HELD or any(rest.values()):
            # the tokens of an answer, one by one, would tell what its text does not
            yield {"index": index, "delta": delta, "logprobs": None, "finish_reason": None} | rest

    def _rest(self, index: int, apart_from: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
        for place, text in self._filters.get(index, {}).items():
            if place[0] not in apart_from and (rest := text.end()):
                yield _part(index, _at(place, rest))

    def _passed(self, value: Any, place: Place, index: int) -> Any:
        match value:
            case str() if value and place[-1] not in STRUCTURE:
                return self._filter(place, index).feed(value) or _HELD
            case dict():
                return self._fields(value, place, index)
            case list():
                parts = [self._part(part, place, index) for part in value]
                return [part for part in parts if part is not _HELD] or (_HELD if value else value)
            case _:
                return value

    def _fields(self, value: dict[str, Any], place: Place, index: int) -> Any:
        passed = {name: self._passed(part, (*place, name), index) for name, part in value.items()}
        kept = {name: part for name, part in passed.items() if part is not _HELD}
        return _HELD if len(kept) < len(passed) and not kept.keys() - {"index"} else kept

    def _part(self, part: Any, place: Place, index: int) -> Any:
        """Pass on a part of a list: one with an index goes on in later chunks, any other is whole."""
        at = part.get("index") if isinstance(part, dict) else None
        if type(at) is int:
            return self._passed(part, (*place, at), index)
        return self._whole(part, str(place[-1]), index)

    def _whole(self, value: Any, name: str, index: int) -> Any:
        match value:
            case str() if value and name not in STRUCTURE:
                text = self._make(index, name == ARGUMENTS)
                return text.feed(value) + text.end()
            case dict():
                return {key: self._whole(part, key, index) for key, part in value.items()}
            case list():
                return [self._whole(part, name, index) for part in value]
            case _:
                return value

    def _filter(self, place: Place, index: int) -> Filter:
        filters = self._filters.setdefault(index, {})
        if place not in filters:
            filters[place] = self._make(index, place[-1] == ARGUMENTS)
        return filters[place]


def _part(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}


def _at(place: Place, text: str) -> dict[str, Any]:
    """Return the delta that has a text at a place."""
    value: Any = text
    for step in reversed(place):
        value = [{"index": step} | value] if isinstance(step, int) else {step: value}
    return value
