"""From a decoded body to engine requests and the transcript that will write their answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from local_engine.cache.radix import Namespace
from local_engine.errors import ContextTooLong, InvalidRequest, TokenOutOfVocabulary
from local_engine.request import Request
from local_engine.wire.bodies import Tokens
from local_engine.wire.chat import ChatShape
from local_engine.wire.completion import CompletionShape
from local_engine.wire.sampling import ModelLimits, sampling_of
from local_engine.wire.transcript import Head, Shape, Transcript

if TYPE_CHECKING:
    from local_engine.text.chat import ChatTemplate
    from local_engine.text.tokenizer import Tokenizer
    from local_engine.wire.bodies import ChatBody, CompletionBody, DetokenizeBody, GenerationBody, TokenizeBody

_MAX_PROMPTS = 128


@dataclass(frozen=True, slots=True, eq=False)
class TextModel:
    """What is needed to read prompts for a model.

    Attributes:
        template: None for a model that cannot chat.
    """

    name: str
    tokenizer: Tokenizer
    template: ChatTemplate | None
    limits: ModelLimits


@dataclass(frozen=True, slots=True)
class Job:
    """What a body asks for.

    Attributes:
        requests: For the engine; all of them make up one answer.
        transcript: Writes the answer.
        is_stream: Whether the answer is streamed.
    """

    requests: tuple[Request, ...]
    transcript: Transcript
    is_stream: bool


def prepare_chat(body: ChatBody, model: TextModel, job_id: str, created: int) -> Job:
    """Render a chat and return its job.

    Raises:
        InvalidRequest: The messages, tools or sampling cannot be served.
    """
    prompt = _chat_prompt(body.messages, _tools(body), model, add_generation_prompt=True)
    return _job(body, [prompt], model, ChatShape(), Head(f"chatcmpl-{job_id}", created, model.name))


def prepare_completion(body: CompletionBody, model: TextModel, job_id: str, created: int) -> Job:
    """Read one or more prompts, texts or token ids, and return their job.

    Raises:
        InvalidRequest: The prompts or the sampling cannot be served.
    """
    prompts = _prompts(body.prompt, model)
    return _job(body, prompts, model, CompletionShape(), Head(f"cmpl-{job_id}", created, model.name))


def tokenize(body: TokenizeBody, model: TextModel) -> list[int]:
    """Return the tokens of a text, or of a chat as the model would see it.

    Raises:
        InvalidRequest: Neither or both were given, or the template refuses the chat.
        ContextTooLong: The text is so long that it is not worth counting.
    """
    if (body.prompt is None) == (body.messages is None):
        raise InvalidRequest("either prompt or messages must be given", "prompt")
    if body.messages is not None:
        add = body.add_generation_prompt is not False
        return _chat_prompt(body.messages, body.tools, model, add_generation_prompt=add)
    return _encoded(body.prompt or "", model, add_bos=body.add_special_tokens is not False)


def detokenize(body: DetokenizeBody, model: TextModel) -> str:
    """Return the text of tokens; control tokens have none.

    Raises:
        TokenOutOfVocabulary: The model does not have one of them.
    """
    for token in body.tokens:
        if not 0 <= token < model.limits.vocab_size:
            raise TokenOutOfVocabulary(token, model.limits.vocab_size, "tokens")
    return b"".join(map(model.tokenizer.token_bytes, body.tokens)).decode(errors="replace")


def _job(body: GenerationBody, prompts: list[list[int]], model: TextModel, shape: Shape, head: Head) -> Job:
    choices = body.n or 1
    sampling = sampling_of(body, [len(prompt) for prompt in prompts], model.limits)
    requests = tuple(
        Request(
            request_id=f"{head.answer_id}-{number}",
            prompt=tuple(prompt),
            params=params,
            choices=choices,
            namespace=Namespace(body.cache_salt or ""),
            priority=body.priority or 0,
        )
        for number, (prompt, params) in enumerate(zip(prompts, sampling, strict=True))
    )
    options = body.stream_options
    transcript = Transcript(
        head,
        shape,
        {request.request_id: number * choices for number, request in enumerate(requests)},
        len(requests) * choices,
        include_usage=bool(options and (options.include_usage or options.continuous_usage_stats)),
        continuous_usage=bool(options and options.continuous_usage_stats),
    )
    return Job(requests, transcript, bool(body.stream))


def _tools(body: ChatBody) -> list[dict[str, Any]] | None:
    if body.tool_choice not in (None, "none", "auto"):
        raise InvalidRequest("only tool_choice auto or none is supported by this model", "tool_choice")
    return None if body.tool_choice == "none" else body.tools


def _chat_prompt(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, model: TextModel, *, add_generation_prompt: bool
) -> list[int]:
    if model.template is None:
        raise InvalidRequest("this model has no chat template, use completions", "messages")
    limit = model.limits.context
    return model.template.render(messages, tools, add_generation_prompt=add_generation_prompt, limit=limit)


def _prompts(prompt: str | list[Any], model: TextModel) -> list[list[int]]:
    if isinstance(prompt, str):
        return [_encoded(prompt, model, add_bos=True)]
    if not prompt:
        raise InvalidRequest("the prompt is empty", "prompt")
    if all(isinstance(each, int) for each in prompt):
        return [_token_ids(prompt)]
    if len(prompt) > _MAX_PROMPTS:
        raise InvalidRequest(f"at most {_MAX_PROMPTS} prompts may be given", "prompt")
    prompts: list[list[int]] = []
    for each in prompt:
        prompts.append(_encoded(each, model, add_bos=True) if isinstance(each, str) else _token_ids(each))
        if len(prompts[-1]) > model.limits.context:  # the others need not be read
            raise ContextTooLong(len(prompts[-1]), 0, model.limits.context, "prompt")
    return prompts


def _token_ids(value: Any) -> list[int]:
    try:
        return msgspec.convert(value, Tokens)
    except msgspec.ValidationError:
        raise InvalidRequest("a prompt must be text or a list of token ids", "prompt") from None


def _encoded(text: str, model: TextModel, *, add_bos: bool) -> list[int]:
    tokenizer = model.tokenizer
    tokenizer.require_fit(len(text), model.limits.context, "prompt")
    bos = [tokenizer.bos_id] if add_bos and tokenizer.adds_bos and tokenizer.bos_id is not None else []
    return bos + tokenizer.encode(text)
