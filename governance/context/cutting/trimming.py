"""Cut a prompt to its target: what only fills, what is said twice, then what has least to do with the question.

What may be cut is what tools returned, what is pasted between marks, and turns older than the last few. The system
prompt, tools, calls, the words of the turn to be answered and all else stay as they are; a call and its results leave
only together, with their whole turn. The same prompt is cut alike in every process.

A `Draft` does what needs no meaning; whoever has an embedding compares `questions` with `chunks` and hands the cosines
to `finish`, which decides by words alone without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, Literal

from governance.context.cutting.asking import questions_of
from governance.context.cutting.pieces import Piece, chunks_of, pieces_of
from governance.context.cutting.ranking import SURE, scored
from governance.context.cutting.rendering import rebuilt, rendered
from governance.context.cutting.squeezing import squeezed
from governance.context.reading import Passage, messages_of, passages_of, turns_of
from governance.context.repeating import Said
from governance.context.rule import ContextRule

How = Literal["space", "same", "near", "unrelated", "turn"]
"""Why something is cut: it only filled, was said before, nearly so, has least to do with the question, or was all that
was left of an old turn."""

Counter = Callable[[str], float]
"""Counts the tokens of a text, about."""

PASSAGE_WORDS: Final = 20
"""Words that stand together before their repetition is dropped."""

_AIM: Final = 0.97
"""Pieces are counted by their length alone, so a little less than the target is aimed at."""

_BEST: Final = 3
"""Pieces that have most to do with the question and are never left out, though the target be missed."""

_MARK: Final = 3.0
"""Tokens of the mark where something was left out."""

_MESSAGE: Final = 4.0
"""Tokens that a message has beside its text."""

_OPENING: Final = 0.25
"""The words that opened the chat stay while they are less than this share of the target: they often say the task."""

_TOGETHER: Final = 0.8
"""What all that was said in a turn gets of the best score in it: a reply often has no word of what it replies to."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that is cut: where, why, and how many tokens it had, about."""

    message: int
    part: int | None
    how: How
    tokens: int


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A prompt that is cut.

    Attributes:
        body: The request with what is left; the request itself where nothing was cut.
        cuts: What was cut.
    """

    body: dict[str, Any]
    cuts: tuple[Cut, ...]


@dataclass(slots=True)
class _Text:
    """A passage that may be cut, in its pieces."""

    passage: Passage
    text: str
    pieces: list[Piece]
    tokens: float
    dropped: dict[int, How] = field(default_factory=dict[int, How])
    scores: dict[int, float] = field(default_factory=dict[int, float])

    def cost(self, at: int) -> float:
        """Return the tokens of a piece, about."""
        piece = self.pieces[at]
        return self.tokens * (piece.end - piece.start) / max(1, len(self.text))

    def words(self, at: int) -> str:
        """Return the text of a piece."""
        return self.text[self.pieces[at].start : self.pieces[at].end]

    @property
    def alive(self) -> list[int]:
        """The places of the pieces that may yet be left out."""
        return [at for at, piece in enumerate(self.pieces) if at not in self.dropped and not piece.stays]


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn that may be left out whole."""

    messages: list[int]
    texts: list[_Text]

    @property
    def alive(self) -> bool:
        """Whether anything of it is left."""
        return any(text.alive for text in self.texts)


class Draft:
    """A prompt about to be cut.

    Attributes:
        questions: What is asked, the words of the last turn first.
        chunks: Texts to be compared with the questions by meaning; none where that is not needed.
    """

    def __init__(self, body: dict[str, Any], rule: ContextRule, tokens: int, count: Counter) -> None:
        """Cut what only fills and what is said twice.

        Args:
            body: The request.
            rule: What is asked.
            tokens: How many tokens the whole prompt has.
            count: Counts those of a text.
        """
        self._body = body
        self._target = rule.target
        self._messages = messages_of(body)
        passages = passages_of(body)
        self._opening = _opening(passages, rule, count)
        ours = [passage for passage in passages if _may_be_cut(passage, rule)]
        self._cuts: list[Cut] = []
        self._left = float(tokens)
        self._texts = [self._squeeze(passage, count) for passage in ours]
        said = Said()
        for passage in passages:
            for piece in pieces_of(passage.text) if passage not in ours else ():
                said.again(passage.text[piece.start : piece.end])
        for text in self._texts:
            self._repeated(text, said)
        self._whole = self._turns(passages, rule.keep_last_turns)
        self.questions = questions_of(passages, self._messages) if self._is_over else []
        self._places = [(text, at) for text in self._texts for at in text.alive] if self.questions else []
        self._chunks = [chunks_of(text.words(at)) for text, at in self._places]
        self.chunks = list(dict.fromkeys(chunk for chunks in self._chunks for chunk in chunks))

    @property
    def _is_over(self) -> bool:
        return self._target is not None and self._left > _AIM * self._target

    def finish(self, cosines: Sequence[float] | None = None) -> Trimmed:
        """Leave out what has least to do with the question until the target is met, and return what is left.

        Args:
            cosines: For each chunk, its likeness in meaning to the nearest question; None to go by words alone.
        """
        if self._is_over:
            self._rank(cosines)
            self._drop()
        for text in self._texts:
            for at, how in text.dropped.items():
                self._cuts.append(Cut(text.passage.message, text.passage.part, how, round(text.cost(at))))
        changed = any(text.dropped or text.text != text.passage.text for text in self._texts)
        body = self._body | {"messages": self._rebuilt()} if changed else self._body
        return Trimmed(body, tuple(_summed(self._cuts)))

    def _squeeze(self, passage: Passage, count: Counter) -> _Text:
        text, before = squeezed(passage.text), count(passage.text)
        tokens = before if text == passage.text else count(text)
        if text != passage.text:
            self._left -= before - tokens
            self._cuts.append(Cut(passage.message, passage.part, "space", round(before - tokens)))
        return _Text(passage, text, pieces_of(text), tokens)

    def _repeated(self, text: _Text, said: Said) -> None:
        """Drop what was said before, where it is a passage: a lone sentence may be about something else here."""
        found = {at: said.again(text.words(at)) for at in text.alive}
        for key, run in groupby(found, key=lambda at: (bool(found[at]), text.pieces[at].item)):
            places = list(run)
            of = sum(text.pieces[at].item == key[1] for at in found)
            whole = text.passage.role == "retrieved" and len(places) == of
            if key[0] and (whole or sum(len(text.words(at).split()) for at in places) >= PASSAGE_WORDS):
                for at in places:
                    text.dropped[at] = "same" if found[at] == "same" else "near"
                    self._left -= text.cost(at)

    def _rank(self, cosines: Sequence[float] | None) -> None:
        nearest = dict(zip(self.chunks, cosines, strict=True)) if cosines is not None else {}
        found = scored(
            self.questions,
            [text.words(at) for text, at in self._places],
            [max((nearest.get(chunk, 0.0) for chunk in chunks), default=0.0) for chunks in self._chunks],
        )
        best: dict[int, float] = {}
        for (text, at), score in zip(self._places, found, strict=True):
            text.scores[at] = score
            if text.passage.role == "history":
                best[text.passage.turn] = max(score, best.get(text.passage.turn, score))
        for text in self._texts:
            for at in text.scores if text.passage.role == "history" else ():
                together = _TOGETHER * best[text.passage.turn]
                text.scores[at] = SURE if text.passage in self._opening else max(text.scores[at], together)

    def _drop(self) -> None:
        ranked = [(score, n, text, at) for n, text in enumerate(self._texts) for at, score in text.scores.items()]
        unsure = sorted((one for one in ranked if one[0] < SURE), key=lambda one: (one[0], one[1], one[3]))
        for _, _, text, at in unsure[:-_BEST]:
            if not self._is_over:
                return
            text.dropped[at] = "unrelated"
            around = sum(beside in text.dropped for beside in (at - 1, at + 1))
            self._left -= text.cost(at) - _MARK * (1 - around)  # a gap is marked, and two that meet are one
            turn = self._whole.get(text.passage.turn)
            if turn is not None and not turn.alive:
                self._left -= len(turn.messages) * (_MARK + _MESSAGE)

    def _rebuilt(self) -> list[Any]:
        gone = self._gone()
        made: dict[tuple[int, int | None], str] = {}
        fresh = {(text.passage.message, text.passage.part, text.passage.start): text for text in self._texts}
        for passage in passages_of(self._body):
            text = None if passage.fixed else fresh.get((passage.message, passage.part, passage.start))
            words = passage.text if text is None else rendered(text.text, text.pieces, text.dropped, text.scores)
            if not passage.fixed:
                place = (passage.message, passage.part)
                made[place] = made.get(place, "") + words
        return [rebuilt(message, at, made) for at, message in enumerate(self._messages) if at not in gone]

    def _gone(self) -> set[int]:
        """Return the messages of old turns of which nothing is left, and count them as cut."""
        gone = {at for turn in self._whole.values() if not turn.alive for at in turn.messages}
        self._cuts += [Cut(at, None, "turn", 0) for at in sorted(gone)]
        return gone

    def _turns(self, passages: Sequence[Passage], keep: int) -> dict[int, _Turn]:
        """Return the old turns that may be left out whole: all that they say may be, and they hold nothing but text."""
        turns = turns_of(self._messages)
        ours = {id(text.passage) for text in self._texts}
        fixed = {one.turn for one in passages if one.text.strip() and not one.fixed and id(one) not in ours}
        fixed |= {turn for turn, message in zip(turns, self._messages, strict=True) if not _only_text(message)}
        return {
            turn: _Turn(
                [at for at, its in enumerate(turns) if its == turn],
                [text for text in self._texts if text.passage.turn == turn],
            )
            for turn in set(turns) - fixed
            if turn >= keep
        }


def _may_be_cut(passage: Passage, rule: ContextRule) -> bool:
    if passage.fixed or not passage.text.strip():
        return False
    return passage.role == "retrieved" or (passage.role == "history" and passage.turn >= rule.keep_last_turns)


def _opening(passages: Sequence[Passage], rule: ContextRule, count: Counter) -> list[Passage]:
    """Return the words that opened the chat, where they are short enough to stay."""
    opened = next((passage.message for passage in passages if passage.role in {"history", "user"}), None)
    own = [passage for passage in passages if passage.message == opened and passage.role == "history"]
    short = rule.target is None or sum(count(passage.text) for passage in own) <= _OPENING * rule.target
    return own if short else []


def _only_text(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return message.get("role") not in {"system", "developer"} and (
        not isinstance(content, list) or all(isinstance(part, Mapping) and "text" in part for part in content)
    )


def _summed(cuts: Sequence[Cut]) -> list[Cut]:
    """Add up what is cut in one place for one reason."""
    sums: dict[tuple[int, int | None, How], int] = {}
    for cut in cuts:
        key = (cut.message, cut.part, cut.how)
        sums[key] = sums.get(key, 0) + cut.tokens
    return [Cut(*key, tokens) for key, tokens in sorted(sums.items(), key=lambda one: (one[0][0], one[0][1] or 0))]
