"""What a chat body must look like to be put into a Messages request, extensions of the chat form included."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from gateway.dialects.messages.shape.messages_body import BrowserState, Document, SearchResult, Text, ToolReference

CHAT_ONLY = frozenset(
    {"audio", "cache", "cache_salt", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
     "max_completion_tokens", "modalities", "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty",
     "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format",
     "safety_identifier", "seed", "stop", "store", "stream_options", "top_logprobs", "user", "verbosity",
     "web_search_options"}
)  # fmt: skip
"""Fields of the chat form that the Messages API does not have, or has by another name."""

NO_WORD: Mapping[str, tuple[object, ...]] = {
    "audio": (),
    "frequency_penalty": (0,),
    "function_call": (),
    "functions": (),
    "logit_bias": ({},),
    "logprobs": (False,),
    "modalities": (["text"],),
    "moderation": (),
    "n": (1,),
    "prediction": (),
    "presence_penalty": (0,),
    "prompt_cache_options": (),
    "prompt_cache_retention": (),
    "seed": (),
    "store": (False,),
    "top_logprobs": (0,),
    "verbosity": ("medium",),
    "web_search_options": (),
}
"""Those that no other words can say, each with the values of it that ask for nothing.

The rest is said otherwise, or asks nothing of an answer: `metadata`, `cache` and `cache_salt` are addressed to us,
every stream tells what `stream_options` asks, and `prompt_cache_key` only hints where OpenAI should look."""


class Part(Struct, tag_field="type"):
    """One part of a content; `type` tells which."""


class ImageUrl(Struct, forbid_unknown_fields=True):
    """Where the image is: in the URL itself, behind it, or with the provider."""

    url: str | None = None
    file_id: str | None = None
    detail: str | None = None


class ImagePart(Part, tag="image_url"):
    """A picture."""

    image_url: ImageUrl


class File(Struct, forbid_unknown_fields=True):
    """Where the file is, and its name."""

    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    filename: str | None = None


class FilePart(Part, tag="file"):
    """Something to read."""

    file: File


class RefusalPart(Part, tag="refusal"):
    """What the model said instead of an answer."""

    refusal: str


class Function(Struct, forbid_unknown_fields=True):
    """The function of a call, its arguments as JSON."""

    name: str
    arguments: str = ""


class Call(Struct):
    """A call of a function."""

    id: str
    function: Function


class Thought(Struct):
    """Thinking with its signature, or redacted thinking with its data."""

    type: str
    thinking: str = ""
    signature: str = ""
    data: str = ""


class Turn(Struct, tag_field="role"):
    """One message; `role` tells whose."""


class SystemTurn(Turn, tag="system", forbid_unknown_fields=True):
    """An instruction."""

    content: str | list[Text]


class DeveloperTurn(Turn, tag="developer", forbid_unknown_fields=True):
    """An instruction, by its newer name."""

    content: str | list[Text]


class UserTurn(Turn, tag="user", forbid_unknown_fields=True):
    """What the user says."""

    content: str | list[Text | ImagePart | FilePart | Document | SearchResult]


class ToolTurn(Turn, tag="tool"):
    """What a tool has given."""

    tool_call_id: str
    content: str | list[Text | ImagePart | FilePart | Document | SearchResult | ToolReference | BrowserState]
    is_error: bool | None = None


class AssistantTurn(Turn, tag="assistant"):
    """What the model has said, as it answered: what an answer tells beside that is no part of a request."""

    audio: None = None
    cache_control: None = None
    function_call: None = None
    name: None = None
    content: str | list[Text | RefusalPart] | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    thinking_blocks: list[Thought] | None = None


class FunctionTool(Struct):
    """What a function is called and takes."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(Struct):
    """A function, or a tool that only a Messages provider knows."""

    type: str = "function"
    function: FunctionTool | None = None


class Named(Struct, forbid_unknown_fields=True):
    """The name of a function."""

    name: str


class NamedTool(Struct, tag_field="type", tag="function"):
    """This function."""

    function: Named


class ChatBody(Struct):
    """The fields of a chat request that the translation reads, beyond those that governance has checked."""

    model: str
    messages: Annotated[list[SystemTurn | DeveloperTurn | UserTurn | ToolTurn | AssistantTurn], Meta(min_length=1)]
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    tools: list[Tool] | None = None
    tool_choice: str | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: str | None = None
    response_format: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    service_tier: str | None = None
