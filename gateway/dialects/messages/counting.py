"""Count the tokens of a prompt: what a client asks, what a provider is asked, and the reply to both.

Spec: the Anthropic API reference, "Count tokens in a Message".
"""

from typing import Any

from gateway.dialects.messages.asking import to_chat
from gateway.dialects.messages.calling import to_messages
from gateway.dialects.messages.shape.messages_body import PromptBody

_OF_THE_PROMPT = frozenset(
    {"model", "messages", "system", "tools", "tool_choice", "thinking", "cache_control", "output_config", "speed"}
)
"""Fields that the count takes; whatever else a request has changes its answer, not its prompt."""


def chat_to_count(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a chat whose prompt the request asks to count.

    Raises:
        BadRequest: a field is not what the API says, or is one that cannot be carried; `param` is its path.
    """
    return to_chat(body, PromptBody)


def request_to_count(chat: dict[str, Any]) -> dict[str, Any]:
    """Return the request that asks a provider to count the prompt of a chat.

    Raises:
        BadRequest: a field cannot be said in this dialect; `param` is its path.
    """
    body = to_messages(chat | {"max_tokens": 1})
    return {name: value for name, value in body.items() if name in _OF_THE_PROMPT}


def counted(tokens: int) -> dict[str, Any]:
    """Return the reply that says how many tokens the prompt has."""
    return {"input_tokens": tokens}
