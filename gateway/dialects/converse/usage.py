"""Tokens of an answer, from Converse to Messages, which counts in the same classes under other names.

Spec: the Amazon Bedrock API reference, `TokenUsage`; the user guide, "Prompt caching": input that a cache was read for
or written with is not in `inputTokens`. The streams of OpenAI's models do not keep to that. They count such input
twice, and `totalTokens` does as well, so only the model tells which way to read them.
"""

from typing import Any

from gateway.dialects.counts import count
from gateway.wire.fold import objects

_OPENAI = "openai."


def counts_cached_twice(model: str) -> bool:
    """Whether `inputTokens` of this model's streams holds what the cache has read and written as well."""
    return _OPENAI in model


def to_messages_usage(usage: dict[str, Any], *, twice: bool) -> dict[str, Any]:
    """Return the usage of a message that counts what `usage` of Converse counts, every token once.

    Args:
        usage: what the stream says.
        twice: whether it is of a model that `counts_cached_twice`.
    """
    told = [(entry.get("ttl"), count(entry, "inputTokens")) for entry in objects(usage.get("cacheDetails"))]
    hour = sum(tokens for ttl, tokens in told if ttl == "1h")
    minutes = sum(tokens for ttl, tokens in told if ttl != "1h")
    read, written = count(usage, "cacheReadInputTokens"), count(usage, "cacheWriteInputTokens")
    written = max(written, hour + minutes)
    fresh = count(usage, "inputTokens")
    if twice and fresh >= read + written:
        fresh -= read + written
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        "output_tokens": count(usage, "outputTokens"),
    }
