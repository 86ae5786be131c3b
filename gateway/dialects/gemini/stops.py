"""Why an answer ended, from Gemini's reasons to those of a chat. Spec: the Gemini API reference, `FinishReason`."""

from typing import Any

_LENGTH = frozenset({"MAX_TOKENS", "CONTINUATION"})
_FILTERED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION",
     "PUP_LIMITED_DISABLED", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)  # fmt: skip
"""Reasons that withhold an answer. The others, such as a malformed call, end what was said so far."""

_PLAIN = frozenset({"STOP", "MAX_TOKENS"})


def to_finish(reason: str, *, called: bool) -> dict[str, Any]:
    """Return the fields of a choice that say how a candidate ended.

    Args:
        reason: Gemini's word; one that is not known here is a plain end.
        called: whether the candidate calls a function, for which Gemini has no word.
    """
    if reason in _LENGTH:
        finish = "length"
    elif reason in _FILTERED:
        finish = "content_filter"
    else:
        finish = "tool_calls" if called else "stop"
    return {"finish_reason": finish} | ({} if reason in _PLAIN else {"native_finish_reason": reason})


def to_block(feedback: dict[str, Any]) -> dict[str, Any] | None:
    """Return the choice that says why a prompt got no answer; None where nothing blocks it."""
    reason = feedback.get("blockReason")
    if reason is None:
        return None
    refusal = feedback.get("blockReasonMessage") or f"The prompt was blocked: {reason}."
    ended = {"finish_reason": "content_filter", "native_finish_reason": reason}
    return {"index": 0, "delta": {"role": "assistant", "refusal": refusal}, "logprobs": None} | ended
