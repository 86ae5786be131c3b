"""What a prompt is made of: the counts that a model's calibration weighs, and what is attached beside the text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gateway.counting.pictures import Picture, picture_of
from gateway.counting.spelling import MEASURES as SPELLED
from gateway.counting.spelling import spelling

MEASURES: Final = (*SPELLED, "once", "messages", "with_tools", "schema")
"""What `Makeup.measures` counts, in order.

`once` is 1 for what a template adds to every prompt, `messages` the turns, `with_tools` 1 where there are tools, whose
explanation some providers add, and `schema` the bytes of tools and answer formats, which providers write anew.
"""

_SCHEMAS: Final = ("tools", "functions", "response_format")
_SPOKEN: Final = frozenset({"role", "content"})
_TEXTS: Final = frozenset({"text", "refusal"})


@dataclass(frozen=True, slots=True)
class Makeup:
    """A prompt, measured.

    Attributes:
        measures: the counts, in the order of `MEASURES`.
        pictures: the pictures in it.
        others: bytes of other attachments, such as sounds and documents.
        counted: tokens that came as numbers, which need no counting.
    """

    measures: tuple[int, ...]
    pictures: tuple[Picture, ...] = ()
    others: int = 0
    counted: int = 0

    @property
    def is_text(self) -> bool:
        """Whether all of it is text, so that its count says something of the tokenizer."""
        return not (self.pictures or self.others or self.counted)


def makeup(body: Mapping[str, Any]) -> Makeup:
    """Measure the prompt in the body of a chat or of an embeddings request, whatever its shape."""
    texts, pictures, others = list[bytes](), list[Picture](), 0
    messages = [each for each in _listed(body.get("messages")) if isinstance(each, dict)]
    for message in messages:
        content = message.get("content")
        for part in [content] if isinstance(content, str) else _listed(content):
            match part:
                case str():
                    texts.append(_utf8(part))
                case {"type": str(kind)} if kind in _TEXTS and isinstance(part.get(kind), str):
                    texts.append(_utf8(part[kind]))
                case {"type": "image_url"}:
                    pictures.append(picture_of(part.get("image_url")))
                case _:
                    others += len(_json(part))
        rest = {name: value for name, value in message.items() if name not in _SPOKEN and value}
        if rest:
            texts.append(_json(rest))
    inputs = list(_inputs(body.get("input")))
    texts += [each for each in inputs if isinstance(each, bytes)]
    schema = [_json(body[name]) for name in _SCHEMAS if body.get(name)]
    turns = len(messages) or len(inputs)
    tooled = bool(body.get("tools") or body.get("functions"))
    measures = (*spelling(b"\n".join(texts)), 1, turns, int(tooled), sum(map(len, schema)))
    return Makeup(measures, tuple(pictures), others, sum(each for each in inputs if isinstance(each, int)))


def of_text(texts: Iterable[str]) -> tuple[int, ...]:
    """Measure texts by themselves, such as those of an answer: no turns, and nothing that a template adds."""
    return (*spelling(b"\n".join(map(_utf8, texts))), 0, 0, 0, 0)


def _inputs(given: Any) -> Iterator[bytes | int]:
    """Return what an embeddings request gives to read: the bytes of each text, how many tokens of each list of them."""
    for each in [given] if isinstance(given, str) else _listed(given):
        if isinstance(each, str):
            yield _utf8(each)
        else:
            yield len(each) if isinstance(each, list) else 1


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _utf8(text: str) -> bytes:
    return text.encode(errors="replace")


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)
