"""How an answer is to be made: its length, its form, how it is sampled and how much the model thinks.

Spec: the Gemini API reference, `GenerationConfig`; its guide "OpenAI compatibility" for what an effort means here.
"""

from collections.abc import Mapping
from typing import Any

from gateway.dialects.gemini.chat_body import ChatBody, JsonFormat, SchemaFormat, TextFormat, Thinking
from gateway.dialects.gemini.names import thinks_by_level
from gateway.errors import BadRequest

_BUDGETS: Mapping[str, int] = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_LEVELS = frozenset({"minimal", "low", "medium", "high", "xhigh"})


def to_generation(fields: ChatBody) -> dict[str, Any]:
    """Return the configuration of an answer that a chat asks for. Its bound includes thoughts, in both.

    Raises:
        BadRequest: it asks for more or less thinking than can be said.
    """
    config = {
        "maxOutputTokens": fields.max_completion_tokens or fields.max_tokens,
        "candidateCount": fields.n,
        "stopSequences": [fields.stop] if isinstance(fields.stop, str) else fields.stop,
        "temperature": fields.temperature,
        "topP": fields.top_p,
        "topK": fields.top_k,
        "seed": fields.seed,
        "presencePenalty": fields.presence_penalty,
        "frequencyPenalty": fields.frequency_penalty,
        "responseLogprobs": fields.logprobs or None,
        "logprobs": fields.top_logprobs or None,
        "thinkingConfig": _thinking(fields) or None,
    }
    return {name: value for name, value in config.items() if value is not None} | _form(fields.response_format)


def _form(form: TextFormat | JsonFormat | SchemaFormat | None) -> dict[str, Any]:
    match form:
        case SchemaFormat():
            named = form.json_schema
            about = {} if named.description is None else {"description": named.description}
            return {"responseMimeType": "application/json", "responseJsonSchema": about | named.schema}
        case JsonFormat():
            return {"responseMimeType": "application/json"}
        case _:
            return {}


def _thinking(fields: ChatBody) -> dict[str, Any]:
    shown = fields.reasoning is not None and fields.reasoning.summary is not None
    config: dict[str, Any] = {"includeThoughts": True} if shown else {}
    if fields.thinking is not None:
        config |= _said(fields.thinking)
    effort = fields.reasoning_effort
    if effort is None or "thinkingBudget" in config:  # one excludes the other, and the budget says more
        return config
    return config | _effort(effort, leveled=thinks_by_level(fields.model))


def _said(thinking: Thinking) -> dict[str, Any]:
    if thinking.type == "disabled":
        return {"thinkingBudget": 0}
    shown: dict[str, Any] = {"includeThoughts": thinking.display != "omitted"}
    return shown if thinking.budget_tokens is None else shown | {"thinkingBudget": thinking.budget_tokens}


def _effort(effort: str, *, leveled: bool) -> dict[str, Any]:
    if effort == "none":
        return {"thinkingBudget": 0}
    if effort not in (_LEVELS if leveled else _BUDGETS):
        raise BadRequest(f"This model cannot be told to think with {effort!r} effort.", param="reasoning_effort")
    return {"thinkingLevel": effort.upper()} if leveled else {"thinkingBudget": _BUDGETS[effort]}
