"""Every token once, whichever form counts it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.gemini.usage import to_chat_usage, to_tier
from governance.prices import Usage

COUNTS = st.integers(0, 10**6)
KINDS: tuple[str, ...] = ("TEXT", "AUDIO", "IMAGE", "VIDEO", "DOCUMENT")
NAMES = (
    "promptTokenCount",
    "promptTokensDetails",
    "cachedContentTokenCount",
    "cacheTokensDetails",
    "candidatesTokenCount",
    "candidatesTokensDetails",
    "thoughtsTokenCount",
    "totalTokenCount",
    "toolUsePromptTokenCount",
)
JSON = st.none() | st.booleans() | st.integers(-5, 10**6) | st.text(max_size=4) | st.lists(st.integers(), max_size=2)

MODALITIES = st.lists(st.fixed_dictionaries({"modality": st.sampled_from(KINDS), "tokenCount": JSON}), max_size=3)


def details(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"modality": kind, "tokenCount": count} for kind, count in counts.items() if count]


@st.composite
def usages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what Google may tell of an answer, whole: the counts of modalities sum to the counts they are of."""
    read, given, said = (draw(st.fixed_dictionaries(dict.fromkeys(KINDS, COUNTS))) for _ in range(3))
    cached = {kind: draw(st.integers(0, count)) for kind, count in read.items()}
    thoughts = draw(COUNTS)
    return {
        "promptTokenCount": sum(read.values()),
        "promptTokensDetails": details(read),
        "cachedContentTokenCount": sum(cached.values()),
        "cacheTokensDetails": details(cached),
        "toolUsePromptTokenCount": sum(given.values()),
        "toolUsePromptTokensDetails": details(given),
        "candidatesTokenCount": sum(said.values()),
        "candidatesTokensDetails": details(said),
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": sum(read.values()) + sum(given.values()) + sum(said.values()) + thoughts,
    }


def classes(chat: dict[str, Any]) -> dict[str, int]:
    """Return the classes of a chat's usage that do not overlap, as the canon of the form says them."""
    read, said = chat["prompt_tokens_details"], chat["completion_tokens_details"]
    fresh_sound = read["audio_tokens"] - read["cached_audio_tokens"]
    return {
        "fresh": chat["prompt_tokens"] - read["cached_tokens"] - fresh_sound - read["image_tokens"],
        "cache_read": read["cached_tokens"] - read["cached_audio_tokens"],
        "audio_read": read["cached_audio_tokens"],
        "audio": fresh_sound,
        "image": read["image_tokens"],
        "output": chat["completion_tokens"] - said["reasoning_tokens"] - said["audio_tokens"],
        "reasoning": said["reasoning_tokens"],
        "audio_output": said["audio_tokens"],
    }


def of(usage: dict[str, Any], name: str, kind: str) -> int:
    return sum(entry["tokenCount"] for entry in usage[name] if entry["modality"] == kind)


@given(usages())
def test_the_classes_sum_to_the_total_that_google_tells(usage: dict[str, Any]) -> None:
    counted = classes(to_chat_usage(usage))

    assert all(count >= 0 for count in counted.values())
    assert sum(counted.values()) == usage["totalTokenCount"]


@given(usages())
def test_each_class_is_what_google_counts_of_it(usage: dict[str, Any]) -> None:
    counted = classes(to_chat_usage(usage))
    heard = of(usage, "promptTokensDetails", "AUDIO") + of(usage, "toolUsePromptTokensDetails", "AUDIO")
    seen = of(usage, "promptTokensDetails", "IMAGE") + of(usage, "toolUsePromptTokensDetails", "IMAGE")

    assert counted["reasoning"] == usage["thoughtsTokenCount"]
    assert counted["audio_read"] == of(usage, "cacheTokensDetails", "AUDIO")
    assert counted["audio"] == heard - counted["audio_read"]
    assert counted["image"] == seen - of(usage, "cacheTokensDetails", "IMAGE")
    assert counted["cache_read"] == usage["cachedContentTokenCount"] - counted["audio_read"]
    assert counted["audio_output"] == of(usage, "candidatesTokensDetails", "AUDIO")


@given(usages())
def test_the_ledger_reads_as_many_tokens_as_google_counts(usage: dict[str, Any]) -> None:
    read = Usage.from_openai(to_chat_usage(usage))

    assert read is not None
    assert read.total == usage["totalTokenCount"]
    assert read.output_tokens == usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]


@given(st.dictionaries(st.sampled_from(NAMES), JSON | MODALITIES))
def test_counts_that_contradict_each_other_still_make_classes_that_do_not(usage: dict[str, Any]) -> None:
    chat = to_chat_usage(usage)
    counted = classes(chat)

    assert all(count >= 0 for count in counted.values())
    assert sum(counted.values()) == chat["total_tokens"]


@pytest.mark.parametrize(
    ("usage", "prompt", "completion", "reasoning", "cached"),
    [
        # The Gemini API reference, "Counting tokens", `generate_content` of a text.
        ({"promptTokenCount": 11, "candidatesTokenCount": 73, "totalTokenCount": 84}, 11, 73, 0, 0),
        # Pull request 2287 of the repository strands-agents/harness-sdk: a hit of the implicit cache.
        (
            {
                "promptTokenCount": 18625,
                "cachedContentTokenCount": 18010,
                "candidatesTokenCount": 188,
                "totalTokenCount": 18813,
            },
            18625,
            188,
            0,
            18010,
        ),
        # Issue 97 of the repository simonw/llm-gemini, the last event of a stream of gemini-2.5-flash.
        (
            {
                "promptTokenCount": 5,
                "candidatesTokenCount": 44,
                "totalTokenCount": 235,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
                "thoughtsTokenCount": 186,
            },
            5,
            230,
            186,
            0,
        ),
    ],
)
def test_published_usages_are_read_to_the_token(
    usage: dict[str, Any], prompt: int, completion: int, reasoning: int, cached: int
) -> None:
    chat = to_chat_usage(usage)

    assert (chat["prompt_tokens"], chat["completion_tokens"]) == (prompt, completion)
    assert chat["completion_tokens_details"]["reasoning_tokens"] == reasoning
    assert chat["prompt_tokens_details"]["cached_tokens"] == cached
    assert chat["total_tokens"] == usage["totalTokenCount"]


def test_thoughts_that_only_the_total_tells_are_output() -> None:
    chat = to_chat_usage({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 40})

    assert (chat["completion_tokens"], chat["total_tokens"]) == (30, 40)


def test_cached_sound_that_google_does_not_tell_apart_is_as_little_as_can_be() -> None:
    usage = {
        "promptTokenCount": 100,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 80}],
        "cachedContentTokenCount": 50,
    }

    assert to_chat_usage(usage)["prompt_tokens_details"]["cached_audio_tokens"] == 30


@pytest.mark.parametrize(
    ("told", "tier"),
    [("standard", {"service_tier": "default"}), ("FLEX", {"service_tier": "flex"}), (None, {}), ("new", {})],
)
def test_the_tier_is_told_where_it_is_known(told: str | None, tier: dict[str, str]) -> None:
    assert to_tier({"serviceTier": told}) == tier
