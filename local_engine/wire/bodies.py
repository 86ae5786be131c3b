"""What a request body may hold.

Types are strict, null means "not given" and unknown fields are ignored, as vLLM does. Fields that would change the
answer and that this engine cannot honour are known here so that `sampling.py` and `prepare.py` can refuse them. What is
looked at for every token that is made, or turned into text at once, has a length limit.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from local_engine.errors import InvalidRequest

Int = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Texts = Annotated[list[str], Meta(max_length=2048)]
Tokens = list[Int]
StopTokens = Annotated[list[Int], Meta(max_length=256)]
Biases = Annotated[dict[str, float], Meta(max_length=1024)]
Detokenizable = Annotated[list[Int], Meta(max_length=1 << 17)]

BodyT = TypeVar("BodyT", bound=Struct)


class StreamOptions(Struct):
    """How a stream reports usage: in one last chunk, or in every chunk so far."""

    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None


class GenerationBody(Struct, kw_only=True):
    """What chat and text completions have in common."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: Int | None = None
    min_p: float | None = None
    n: Int | None = None
    stop: str | list[str] | None = None
    max_tokens: Int | None = None
    min_tokens: Int | None = None
    seed: Int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    logit_bias: Biases | None = None
    ignore_eos: bool | None = None
    stop_token_ids: StopTokens | None = None
    include_stop_str_in_output: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    priority: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)] | None = None
    cache_salt: Annotated[str, Meta(min_length=1, max_length=512)] | None = None
    response_format: dict[str, Any] | None = None
    structured_outputs: dict[str, Any] | None = None
    prompt_logprobs: Int | None = None


class ChatBody(GenerationBody, kw_only=True):
    """`POST /v1/chat/completions`. What a message may hold is the chat template's business."""

    messages: list[dict[str, Any]]
    max_completion_tokens: Int | None = None
    logprobs: bool | None = None
    top_logprobs: Int | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None


class CompletionBody(GenerationBody, kw_only=True):
    """`POST /v1/completions`."""

    prompt: str | list[Any]
    logprobs: Int | None = None
    echo: bool | None = None
    suffix: str | None = None
    best_of: Int | None = None


class EmbeddingBody(Struct, kw_only=True):
    """`POST /v1/embeddings`."""

    input: str | list[Any]
    model: str | None = None
    encoding_format: str | None = None
    dimensions: Int | None = None


class TokenizeBody(Struct, kw_only=True):
    """`POST /tokenize`: a text, or a chat as the model would see it."""

    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool | None = None
    add_special_tokens: bool | None = None


class DetokenizeBody(Struct, kw_only=True):
    """`POST /detokenize`."""

    tokens: Detokenizable
    model: str | None = None


_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


def decode(data: bytes, kind: type[BodyT]) -> BodyT:
    """Decode a JSON body.

    Raises:
        InvalidRequest: It is not JSON, nests too deeply, or a field is missing or of another type.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        message = str(error)
        found = _PATH.search(message)
        param = found["path"] or None if found else None
        raise InvalidRequest(_PATH.sub("", message), param) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the body is not valid JSON: {error}") from None
    except RecursionError:
        raise InvalidRequest("the body nests too deeply") from None
