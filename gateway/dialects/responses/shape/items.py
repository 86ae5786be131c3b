"""What an input item looks like. An item with a field that is not named here is refused, so that none is lost."""

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

Label = str | None
"""An id or a status: it names something for a store and says nothing to a model."""


class Part(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A piece of content."""


class InputText(Part, frozen=True, tag="input_text"):
    """Text that is said to the model."""

    text: str
    prompt_cache_breakpoint: dict[str, Any] | None = None


class OutputText(Part, frozen=True, tag="output_text"):
    """Text that the model has said."""

    text: str
    annotations: list[dict[str, Any]] | None = None
    logprobs: list[dict[str, Any]] | None = None


class Refusal(Part, frozen=True, tag="refusal"):
    """What the model has said instead of an answer."""

    refusal: str


class InputImage(Part, frozen=True, tag="input_image"):
    """An image, by URL or as data in one."""

    image_url: str | None = None
    detail: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: dict[str, Any] | None = None


class InputFile(Part, frozen=True, tag="input_file"):
    """A document, as data, by URL or by its id at the provider."""

    file_data: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    filename: str | None = None
    detail: str | None = None
    prompt_cache_breakpoint: dict[str, Any] | None = None


class InputAudio(Part, frozen=True, tag="input_audio"):
    """Sound."""

    input_audio: dict[str, Any]
    prompt_cache_breakpoint: dict[str, Any] | None = None


AnyPart = InputText | OutputText | Refusal | InputImage | InputFile | InputAudio
Content = str | list[AnyPart]


class Item(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """One entry of `input`."""


class Message(Item, frozen=True, tag="message"):
    """A turn."""

    role: Literal["user", "assistant", "system", "developer"]
    content: Content
    phase: str | None = None
    id: Label = None
    status: Label = None


class Reasoning(Item, frozen=True, tag="reasoning"):
    """What the model thought, often sealed so that only its maker can read it."""

    summary: list[dict[str, Any]]
    content: list[dict[str, Any]] | None = None
    encrypted_content: str | None = None
    id: Label = None
    status: Label = None


class FunctionCall(Item, frozen=True, tag="function_call"):
    """The model calls a function."""

    call_id: str
    name: str
    arguments: str
    id: Label = None
    status: Label = None


class FunctionCallOutput(Item, frozen=True, tag="function_call_output"):
    """What a function has returned."""

    call_id: str
    output: Content
    name: str | None = None
    id: Label = None
    status: Label = None


class CustomToolCall(Item, frozen=True, tag="custom_tool_call"):
    """The model calls a tool that takes free text."""

    call_id: str
    name: str
    input: str
    id: Label = None
    status: Label = None


class CustomToolCallOutput(Item, frozen=True, tag="custom_tool_call_output"):
    """What such a tool has returned."""

    call_id: str
    output: Content
    id: Label = None
    status: Label = None


AnyItem = Message | Reasoning | FunctionCall | FunctionCallOutput | CustomToolCall | CustomToolCallOutput
ITEM_TYPES = frozenset(kind.__struct_config__.tag for kind in get_args(AnyItem))


class Input(msgspec.Struct, frozen=True):
    """All items of a request."""

    input: Annotated[list[AnyItem], Meta(min_length=1)]
