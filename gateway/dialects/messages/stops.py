"""Why an answer ended, in Messages and in chat, each from the other."""

from typing import Any

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_STOP = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


def to_finish(delta: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a choice that say how a message with this `stop_reason` and its details ended."""
    reason, sequence, details = (delta.get(name) for name in ("stop_reason", "stop_sequence", "stop_details"))
    finish = _FINISH.get(str(reason), "stop")
    choice: dict[str, Any] = {"finish_reason": finish}
    if _STOP[finish] != reason:
        choice["native_finish_reason"] = reason
    if sequence is not None:
        choice["stop_reason"] = sequence
    if details is not None:
        choice["stop_details"] = details
    return choice


def from_finish(choice: dict[str, Any], *, calls: bool) -> dict[str, Any]:
    """Return `stop_reason`, `stop_sequence` and, where there are any, `stop_details` of a message.

    Args:
        choice: the choice of a chat, as far as it says how it ended.
        calls: whether it calls a tool; some say `stop` even then, where a choice of tools forced the call.
    """
    finish, native, met = (choice.get(name) for name in ("finish_reason", "native_finish_reason", "stop_reason"))
    reason = None if finish is None else _STOP.get(str(finish), "end_turn")
    if isinstance(native, str) and native in _FINISH:
        reason = native
    elif reason == "end_turn" and calls:
        reason = "tool_use"
    elif reason == "end_turn" and isinstance(met, str):
        reason = "stop_sequence"
    delta = {"stop_reason": reason, "stop_sequence": met if reason == "stop_sequence" else None}
    details = choice.get("stop_details")
    return delta if details is None else delta | {"stop_details": details}
