"""What a provider answers, and what of it has really been made at any moment: one piece is one token."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["thought", "text", "call"]
Finish = Literal["stop", "length", "tool_calls"]


class Piece(NamedTuple):
    """One token of an answer: what it says, and of which call it is an argument."""

    kind: Kind
    text: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, its arguments in pieces."""

    id: str
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Tokens of the prompt in classes that do not overlap."""

    fresh: int = 12
    read: int = 0
    written: int = 0
    written_1h: int = 0

    @property
    def total(self) -> int:
        """Every token of the prompt once."""
        return self.fresh + self.read + self.written + self.written_1h


@dataclass(frozen=True, slots=True)
class Tokens:
    """What has been used at some moment; `reasoning` is not within `said`."""

    prompt: Prompt
    said: int = 0
    reasoning: int = 0

    @property
    def output(self) -> int:
        """All that is billed as output."""
        return self.said + self.reasoning

    @property
    def total(self) -> int:
        """Every token once."""
        return self.prompt.total + self.output


NOTHING = Tokens(Prompt(fresh=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: thoughts first, then text, then calls."""

    thoughts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ("Hello", ",", " world", "!")
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    prompt: Prompt = Prompt()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the answer token by token."""
        return (
            *(Piece("thought", text) for text in self.thoughts),
            *(Piece("text", text) for text in self.texts),
            *(Piece("call", text, index) for index, call in enumerate(self.calls) for text in call.arguments),
        )

    @property
    def text(self) -> str:
        """Return what a client should read in the end."""
        return "".join(self.texts)

    def tokens(self, made: int) -> Tokens:
        """Return what is used once `made` pieces have been made."""
        thought = min(made, len(self.thoughts))
        return Tokens(self.prompt, made - thought, thought)

    def runs(self) -> Iterator[tuple[Kind, int, tuple[str, ...]]]:
        """Yield the parts of the answer that are not empty: their kind, which call they are, and their pieces."""
        if self.thoughts:
            yield "thought", 0, self.thoughts
        if self.texts:
            yield "text", 0, self.texts
        for index, call in enumerate(self.calls):
            yield "call", index, call.arguments
