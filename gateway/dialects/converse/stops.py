"""Why an answer ended, from Converse to chat."""

from typing import Any

from gateway.dialects.messages.stops import to_finish

_FINISH = {
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
"""What Messages has no word for."""


def to_end(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a choice that say how an answer with this `messageStop` ended."""
    reason, more = data["stopReason"], data.get("additionalModelResponseFields")
    if reason in _FINISH:
        return {"finish_reason": _FINISH[reason], "native_finish_reason": reason}
    met = more.get("stop_sequence") if isinstance(more, dict) else None
    return to_finish({"stop_reason": reason, "stop_sequence": met if isinstance(met, str) else None})
