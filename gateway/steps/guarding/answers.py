"""The reply of a request whose answer must keep to rules: what they redact or block never goes further than here.

An answer is told anew, chunk by chunk, with what its texts may say; so the bytes of a provider do not pass, though it
speaks as the client does. What is kept, given again or sent as a whole is folded from the chunks that were let through:
it cannot say anything else than the stream did. Whether an answer has the shape that a rule wants shows at its end: a
stream that has not ends with an error, in place of its end mark.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from gateway.providers.upstream import Chunk
from gateway.steps.guarding.rewriting import Filter, Rewriting
from gateway.wire.departure import Departure
from gateway.wire.fold import Fold
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from gateway.wire.unfold import unfold
from governance.errors import ContentBlocked
from governance.guardrails.rules import Length, Rule, Shaped, label_of
from governance.guardrails.texts import GuardedText

_CALLS: Final = ("tool_calls", "function_call", "refusal")
"""What stands in place of a text that has a shape."""


class Acted:
    """The rules that found something in one request and its answer; `tell` is told of each once."""

    def __init__(self, tell: Callable[[Rule], None], *, pinned: bool = False) -> None:
        self._tell = tell
        self._pinned = pinned
        self._rules: dict[str, Rule] = {}

    def __call__(self, rule: Rule) -> None:
        """Take note of a rule that has found something.

        Raises:
            ContentBlocked: the rule blocks. A request whose call is out already cannot be blocked any more.
        """
        if rule.name not in self._rules:
            self._rules[rule.name] = rule
            self._tell(rule)
        if rule.action == "block" and not (self._pinned and rule.on == "input"):
            raise ContentBlocked(rule.name, rule.on)

    @property
    def told(self) -> tuple[str, ...]:
        """What the client is told of them."""
        return tuple(f"{rule.name}={rule.action}" for rule in self._rules.values())


class GuardedReply:
    """A reply behind the rules for answers; one without rules passes everything on as it comes."""

    def __init__(self, reply: Reply, rules: tuple[Rule, ...], acted: Acted) -> None:
        self._reply = reply
        self._rules = rules
        self._acted = acted
        self._answer = _Answer(rules, acted)

    @property
    def departure(self) -> Departure:
        """Whether the client is still there."""
        return self._reply.departure

    @property
    def spoken(self) -> bool:
        """Whether anything of an answer has gone out."""
        return self._reply.spoken

    async def begin(self, facts: Facts) -> None:
        """Begin an answer anew: nothing that is held back is of another attempt."""
        self._answer = _Answer(self._rules, self._acted)
        await self._reply.begin(self._known(facts))

    async def piece(self, chunk: Chunk) -> None:
        """Pass on what may go on of a chunk.

        Raises:
            ContentBlocked: a rule blocks the answer.
        """
        if not self._rules:
            return await self._reply.piece(chunk)
        for value in self._answer.say(chunk.value):
            await self._reply.piece(Chunk(msgspec.json.encode(value), value))
        return None

    def completed(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the completion that a stream has come to, as it may be told.

        Raises:
            ContentBlocked: it has not the shape that a rule wants.
        """
        return self._answer.whole(completion) if self._rules else completion

    def stored(self, body: bytes) -> dict[str, Any]:
        """Return a completion that was bought before, as it may be told now.

        Raises:
            ContentBlocked: a rule blocks it.
        """
        completion = msgspec.json.decode(body)
        if not self._rules:
            return completion
        answer = _Answer(self._rules, self._acted)
        for chunk in unfold(completion):
            for _ in answer.say(chunk):
                pass
        return answer.whole(completion)

    async def told(self, completion: dict[str, Any]) -> None:
        """Pass on an answer that `stored` has returned."""
        await self._reply.told(completion)

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """End the answer."""
        await self._reply.finish(completion, self._known(facts))

    def _known(self, facts: Facts) -> Facts:
        return replace(facts, guardrails=self._acted.told) if self._acted.told else facts


class _Answer:
    """One answer: what of it has been let through."""

    def __init__(self, rules: tuple[Rule, ...], acted: Acted) -> None:
        self._rules = rules
        self._acted = acted
        self._fold = Fold()
        self._chars: dict[int, int] = {}
        self._rewriting = Rewriting(self._filter)

    def say(self, chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for value in self._rewriting.rewrite(chunk) if chunk else ():
            self._fold.add(value)
            yield value

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        passed = completion | {"choices": self._fold.completion()["choices"]}
        for rule in self._rules:
            if isinstance(rule.looks_for, Shaped) and not all(_fits(rule.looks_for, c) for c in passed["choices"]):
                self._acted(rule)
        return passed

    def _filter(self, choice: int, json: bool) -> Filter:
        text = GuardedText(self._rules, self._acted, _in_place, json=json)
        return _Measured(text, lambda more: self._count(choice, more))

    def _count(self, choice: int, more: int) -> None:
        before = self._chars.get(choice, 0)
        self._chars[choice] = before + more
        for rule in self._rules:
            if isinstance(rule.looks_for, Length) and before <= rule.looks_for.most < before + more:
                self._acted(rule)


@dataclass(frozen=True, slots=True)
class _Measured:
    text: GuardedText
    count: Callable[[int], None]

    def feed(self, piece: str) -> str:
        self.count(len(piece))
        return self.text.feed(piece)

    def end(self) -> str:
        return self.text.end()


def _in_place(rule: Rule, kind: str, value: str) -> str:
    """What stands in place of what an answer may not say; it has no number, so nobody takes it for a placeholder."""
    del rule, value
    return f"[{label_of(kind)}]"


def _fits(shaped: Shaped, choice: dict[str, Any]) -> bool:
    message = choice["message"]
    if any(message.get(name) for name in _CALLS):
        return True
    try:
        value = msgspec.json.decode(message.get("content") or "")
    except (msgspec.DecodeError, RecursionError, TypeError):
        return False
    return shaped.schema.fits(value)
