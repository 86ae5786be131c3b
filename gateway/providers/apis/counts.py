"""How a provider is asked how many tokens a prompt has.

Spec: vLLM, "Tokenizer API", which the bundled engine shares; the Anthropic API reference, "Count tokens in a Message";
the Gemini API reference, "Counting tokens".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from gateway.dialects.chat import plain
from gateway.dialects.gemini.calling import to_gemini
from gateway.dialects.gemini.names import to_resource
from gateway.dialects.messages.counting import request_to_count
from gateway.providers.upstream import Call, Wanted

_OF_THE_PROMPT: Final = ("model", "messages", "tools", "chat_template_kwargs")


@dataclass(frozen=True, slots=True)
class Counter:
    """One way to ask.

    Attributes:
        ask: what to post for the prompt of a call; raises `BadRequest` for what it has no word for.
        field: where the count is in the reply.
    """

    ask: Callable[[Call], Wanted]
    field: str

    def told(self, reply: dict[str, Any]) -> int | None:
        """Return the count in a reply; None where it makes no sense."""
        count = reply.get(self.field)
        return count if type(count) is int and count >= 0 else None


def _tokenize(call: Call) -> Wanted:
    body = call.body if call.spoken == "chat" else plain(call.body)
    return Wanted("../tokenize", {name: body[name] for name in _OF_THE_PROMPT if name in body})


def _count_tokens(call: Call) -> Wanted:
    return Wanted("v1/messages/count_tokens", request_to_count(call.body))


def _gemini(call: Call) -> Wanted:
    resource = to_resource(call.body["model"])
    return Wanted(f"{resource}:countTokens", {"generateContentRequest": {"model": resource} | to_gemini(call.body)})


TOKENIZE: Final = Counter(_tokenize, "count")
COUNT_TOKENS: Final = Counter(_count_tokens, "input_tokens")
GEMINI: Final = Counter(_gemini, "totalTokens")
