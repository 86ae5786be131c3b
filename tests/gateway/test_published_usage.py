"""What each provider's reference says that an answer reports, and what of it is counted as which class.

The payloads are written from the API reference that each case names; the numbers are made up.
"""

from typing import Any

import pytest

from gateway.dialects.messages.usage import to_chat_usage
from governance.prices import Usage

CHAT: dict[str, tuple[dict[str, Any], Usage]] = {
    "OpenAI, The chat completion object: cached, audio, reasoning and predicted tokens are within their totals": (
        {
            "prompt_tokens": 1117,
            "completion_tokens": 46,
            "total_tokens": 1163,
            "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 30,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 5,
                "rejected_prediction_tokens": 2,
            },
        },
        Usage(fresh_input=93, cache_read=1024, output=16, reasoning=30),
    ),
    "OpenAI, Audio and speech: an answer that is heard": (
        {
            "prompt_tokens": 121,
            "completion_tokens": 212,
            "total_tokens": 333,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 160},
        },
        Usage(fresh_input=21, audio_input=100, output=52, audio_output=160),
    ),
    "OpenAI, The embedding object: there is no completion": (
        {"prompt_tokens": 8, "total_tokens": 8},
        Usage(fresh_input=8),
    ),
    "DeepSeek, Create chat completion: hits and misses of the cache stand beside the prompt": (
        {
            "prompt_tokens": 1230,
            "completion_tokens": 400,
            "total_tokens": 1630,
            "prompt_cache_hit_tokens": 1024,
            "prompt_cache_miss_tokens": 206,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        Usage(fresh_input=206, cache_read=1024, output=100, reasoning=300),
    ),
    "xAI, Chat completions: reasoning is beside the completion and only in the total": (
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "prompt_tokens_details": {"text_tokens": 32, "audio_tokens": 0, "image_tokens": 0, "cached_tokens": 8},
            "completion_tokens_details": {
                "reasoning_tokens": 94,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "num_sources_used": 3,
        },
        Usage(fresh_input=24, cache_read=8, output=9, reasoning=94, tool_runs=3),
    ),
    "Google, Gemini over the OpenAI API: thoughts are only in the total": (
        {"prompt_tokens": 11, "completion_tokens": 120, "total_tokens": 1043},
        Usage(fresh_input=11, output=1032),
    ),
    "Mistral, Chat completion: three numbers, and seconds of sound that are no tokens": (
        {"prompt_tokens": 16, "completion_tokens": 34, "total_tokens": 50, "prompt_audio_seconds": None},
        Usage(fresh_input=16, output=34),
    ),
    "Groq, Chat completions: times stand beside the tokens": (
        {
            "queue_time": 0.037493756,
            "prompt_tokens": 4641,
            "prompt_time": 0.028,
            "completion_tokens": 1817,
            "completion_time": 5.57,
            "total_tokens": 6458,
            "total_time": 5.6,
            "prompt_tokens_details": {"cached_tokens": 4608},
        },
        Usage(fresh_input=33, cache_read=4608, output=1817),
    ),
    "vLLM, OpenAI-compatible server: details are null without the flag for them": (
        {"prompt_tokens": 7, "total_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
        Usage(fresh_input=7, output=2),
    ),
    "Together, Chat completions: cached tokens stand at the top": (
        {"prompt_tokens": 40, "completion_tokens": 6, "total_tokens": 46, "cached_tokens": 32},
        Usage(fresh_input=8, cache_read=32, output=6),
    ),
    "OpenRouter, Usage accounting: costs stand beside the tokens": (
        {
            "completion_tokens": 2,
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost": 0.95,
            "cost_details": {"upstream_inference_cost": 19},
            "prompt_tokens": 194,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100, "audio_tokens": 0},
            "total_tokens": 196,
        },
        Usage(fresh_input=94, cache_write=100, output=2),
    ),
}

MESSAGES: dict[str, tuple[dict[str, Any], Usage]] = {
    "Anthropic, Prompt caching: three disjoint counts, and how long each write is kept": (
        {
            "input_tokens": 2048,
            "cache_read_input_tokens": 1800,
            "cache_creation_input_tokens": 248,
            "output_tokens": 503,
            "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
        },
        Usage(fresh_input=2048, cache_read=1800, cache_write=148, cache_write_1h=100, output=503),
    ),
    "Anthropic, Messages: an answer without a cache tells nothing of it": (
        {"input_tokens": 10, "output_tokens": 20},
        Usage(fresh_input=10, output=20),
    ),
    "Anthropic, Extended thinking: thinking is within the output": (
        {"input_tokens": 5, "output_tokens": 200, "output_tokens_details": {"thinking_tokens": 150}},
        Usage(fresh_input=5, output=50, reasoning=150),
    ),
    "Anthropic, Web search tool: each search has a fee beside the tokens": (
        {
            "input_tokens": 6039,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "output_tokens": 931,
            "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 4},
        },
        Usage(fresh_input=6039, output=931, tool_runs=2),
    ),
}


@pytest.mark.parametrize(("said", "meant"), CHAT.values(), ids=CHAT.keys())
def test_every_class_of_a_published_usage_is_counted(said: dict[str, Any], meant: Usage) -> None:
    assert Usage.from_openai(said) == meant
    totals = said["prompt_tokens"], max(said.get("completion_tokens", 0), said["total_tokens"] - said["prompt_tokens"])
    assert (meant.input_tokens, meant.output_tokens) == totals


@pytest.mark.parametrize(("said", "meant"), MESSAGES.values(), ids=MESSAGES.keys())
def test_every_class_of_a_published_usage_of_messages_is_counted(said: dict[str, Any], meant: Usage) -> None:
    assert Usage.from_openai(to_chat_usage(said)) == meant
