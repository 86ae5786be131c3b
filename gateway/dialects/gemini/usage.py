"""Tokens of an answer, from Gemini's counts to those of a chat.

Gemini counts the prompt (cached tokens included), the results of tools that Google ran, the candidates and the thoughts
apart, each also by modality; the total is the sum of the four. Chat counts input and output and names classes beneath.

Of the modalities chat knows sound and images. Cached images are within `cached_tokens`, which has no class of its own
for them, so `image_tokens` of the prompt are the fresh ones. Film and documents are billed as text, and stay with it.
"""

from collections.abc import Mapping
from typing import Any

from gateway.dialects.counts import count

_TIERS = {"standard": "default", "flex": "flex", "priority": "priority"}


def to_chat_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usage of a chat, whose classes sum to Gemini's total; a total beyond its parts is output as well."""
    prompt = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
    thoughts = count(usage, "thoughtsTokenCount")
    candidates = count(usage, "candidatesTokenCount")
    completion = max(candidates + thoughts, count(usage, "totalTokenCount") - prompt)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": _read(usage, prompt),
        "completion_tokens_details": {
            "reasoning_tokens": thoughts,
            "audio_tokens": min(_of(usage, "candidatesTokensDetails", "AUDIO"), completion - thoughts),
        },
    }


def to_tier(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field that says at which tier an answer was given, where Gemini tells."""
    tier = _TIERS.get(str(usage.get("serviceTier")).lower())
    return {} if tier is None else {"service_tier": tier}


def _read(usage: Mapping[str, Any], prompt: int) -> dict[str, int]:
    """Return the classes of input, held to what they are part of: the counts of modalities are not always whole."""
    cached = min(count(usage, "cachedContentTokenCount"), prompt)
    sound, images = (
        _of(usage, "promptTokensDetails", kind) + _of(usage, "toolUsePromptTokensDetails", kind)
        for kind in ("AUDIO", "IMAGE")
    )
    sound = min(sound, prompt)
    cached_sound = min(_of(usage, "cacheTokensDetails", "AUDIO"), sound, cached)
    cached_sound = max(cached_sound, sound + cached - prompt)
    fresh_images = max(0, images - _of(usage, "cacheTokensDetails", "IMAGE"))
    return {
        "cached_tokens": cached,
        "audio_tokens": sound,
        "cached_audio_tokens": cached_sound,
        "image_tokens": min(fresh_images, prompt - cached - (sound - cached_sound)),
    }


def _of(usage: Mapping[str, Any], name: str, modality: str) -> int:
    details = usage.get(name)
    counted = [entry for entry in details if isinstance(entry, dict)] if isinstance(details, list) else []
    return sum(count(entry, "tokenCount") for entry in counted if entry.get("modality") == modality)
