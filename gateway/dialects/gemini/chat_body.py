"""What a chat body must look like to be said to a Gemini provider, extensions of the chat form included.

A request is built anew from these fields, so one that is not here would be lost: it is refused.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct


class Part(Struct, tag_field="type", forbid_unknown_fields=True):
    """One part of a content; `type` tells which."""

    cache_control: Any = None


class Text(Part, tag="text", kw_only=True):
    """What somebody says."""

    text: str
    citations: Any = None


class RefusalPart(Part, tag="refusal", kw_only=True):
    """What the model said instead of an answer."""

    refusal: str


class ImageUrl(Struct, forbid_unknown_fields=True):
    """Where the image is: in the URL itself or behind it."""

    url: str
    detail: str | None = None


class ImagePart(Part, tag="image_url", kw_only=True):
    """A picture."""

    image_url: ImageUrl


class InputAudio(Struct, forbid_unknown_fields=True):
    """Sound in base64."""

    data: str
    format: Annotated[str, Meta(pattern=r"^[\w.+-]+$")]


class AudioPart(Part, tag="input_audio", kw_only=True):
    """Something to hear."""

    input_audio: InputAudio


class File(Struct, forbid_unknown_fields=True):
    """A file in the request itself or behind an address, and its name."""

    file_data: str | None = None
    file_url: str | None = None
    filename: str | None = None


class FilePart(Part, tag="file", kw_only=True):
    """Something to read, to see or to hear."""

    file: File


Seen = Text | ImagePart | AudioPart | FilePart


class Google(Struct):
    """What Google adds to the chat form."""

    thought_signature: str | None = None


class ExtraContent(Struct):
    """What a maker adds to the chat form, by the maker's name."""

    google: Google | None = None


class Function(Struct):
    """The function of a call, its arguments as JSON."""

    name: str
    arguments: str = ""


class Call(Struct):
    """A call of a function."""

    id: str
    function: Function
    extra_content: ExtraContent | None = None


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

    content: str | list[Seen]


class ToolTurn(Turn, tag="tool", forbid_unknown_fields=True):
    """What a tool has given."""

    tool_call_id: str
    content: str | list[Text | ImagePart | FilePart]
    name: str | None = None
    is_error: bool | None = None
    cache_control: Any = None


class AssistantTurn(Turn, tag="assistant"):
    """What the model has said, as it answered: what an answer tells beside that is no part of a request."""

    audio: None = None
    function_call: None = None
    name: None = None
    content: str | list[Text | RefusalPart] | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    extra_content: ExtraContent | None = None


Message = SystemTurn | DeveloperTurn | UserTurn | ToolTurn | AssistantTurn


class Declared(Struct, forbid_unknown_fields=True):
    """What a function is called and takes; `strict` when nothing else may be said to it."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Struct, forbid_unknown_fields=True):
    """A function that the client runs."""

    function: Declared
    type: Literal["function"] = "function"
    cache_control: Any = None


class Named(Struct):
    """The name of a function."""

    name: str


class Choice(Struct, tag_field="type"):
    """What may be called; `type` tells how that is said."""


class NamedChoice(Choice, tag="function"):
    """This function."""

    function: Named


class NamedTool(Struct):
    """A function among those that may be called."""

    function: Named
    type: Literal["function"] = "function"


class Allowed(Struct):
    """The functions among which the model may choose, and whether it must."""

    tools: list[NamedTool]
    mode: Literal["auto", "required"] = "auto"


class AllowedChoice(Choice, tag="allowed_tools"):
    """These functions."""

    allowed_tools: Allowed


class Schema(Struct, kw_only=True):
    """A schema that the answer keeps to; its name and its strictness have no word here, where each is strict."""

    description: str | None = None
    schema: dict[str, Any]


class Format(Struct, tag_field="type"):
    """The form of the answer; `type` tells which."""


class TextFormat(Format, tag="text"):
    """Any text."""


class JsonFormat(Format, tag="json_object"):
    """Any JSON."""


class SchemaFormat(Format, tag="json_schema"):
    """JSON that keeps to a schema."""

    json_schema: Schema


class Thinking(Struct):
    """Whether the model thinks, for how many tokens, and whether it shows that."""

    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: int | None = None
    display: str | None = None


class Reasoning(Struct, forbid_unknown_fields=True):
    """Whether thoughts are shown."""

    summary: str | None = None


class ChatBody(Struct):
    """The fields of a chat request that this API has a word for."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1)]
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    response_format: TextFormat | JsonFormat | SchemaFormat | None = None
    reasoning_effort: str | None = None
    thinking: Thinking | None = None
    reasoning: Reasoning | None = None
    tools: list[Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | AllowedChoice | None = None
    parallel_tool_calls: bool | None = None
    service_tier: Literal["auto", "default", "flex"] | None = None
    safety_settings: list[dict[str, Any]] | None = None
