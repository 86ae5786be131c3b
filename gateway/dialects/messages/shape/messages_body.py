"""What a Messages request must look like. Spec: the Anthropic API reference, "Create a Message"."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Bound = Annotated[int, Meta(ge=1, le=2**31 - 1)]
MediaType = Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+$")]


class Block(Struct, tag_field="type"):
    """One block of a content, or its source: `type` tells which."""


class Text(Block, tag="text"):
    """What somebody says."""

    text: str


class Base64(Block, tag="base64", forbid_unknown_fields=True):
    """A file in the request itself."""

    media_type: MediaType
    data: str


class Url(Block, tag="url", forbid_unknown_fields=True):
    """A file that the provider fetches."""

    url: str


class Stored(Block, tag="file", forbid_unknown_fields=True):
    """A file that the provider already has."""

    file_id: str


class PlainText(Block, tag="text", forbid_unknown_fields=True):
    """A document of plain text."""

    data: str
    media_type: Literal["text/plain"]


class Image(Block, tag="image"):
    """A picture."""

    source: Base64 | Url | Stored


class Content(Block, tag="content"):
    """A document made of blocks, so that citations can point at each."""

    content: str | list[Text | Image]


class Document(Block, tag="document"):
    """Something to read, and to cite where `citations` asks for it."""

    source: Base64 | PlainText | Url | Stored | Content
    title: str | None = None


class SearchResult(Block, tag="search_result"):
    """What a search of the client's own has found."""

    source: str
    title: str
    content: list[Text]


class ToolReference(Block, tag="tool_reference"):
    """A tool that a search for tools has found."""

    tool_name: str


class BrowserState(Block, tag="browser_state"):
    """What a client's browser shows."""


class ToolResult(Block, tag="tool_result"):
    """What a client's tool has given."""

    tool_use_id: str
    content: str | list[Text | Image | Document | SearchResult | ToolReference | BrowserState] | None = None
    is_error: bool | None = None


class Thinking(Block, tag="thinking"):
    """What the model thought, signed by its maker."""

    thinking: str
    signature: str


class RedactedThinking(Block, tag="redacted_thinking"):
    """What the model thought, for its maker alone to read."""

    data: str


class ToolUse(Block, tag="tool_use"):
    """A call of a client's tool."""

    id: str
    name: str
    input: dict[str, Any]


class Turn(Struct, tag_field="role", forbid_unknown_fields=True):
    """One message; `role` tells whose."""


class UserTurn(Turn, tag="user"):
    """What the user or their tools say."""

    content: str | Annotated[list[Text | Image | Document | SearchResult | ToolResult], Meta(min_length=1)]


class AssistantTurn(Turn, tag="assistant"):
    """What the model has said."""

    content: str | Annotated[list[Text | Thinking | RedactedThinking | ToolUse], Meta(min_length=1)]


class SystemTurn(Turn, tag="system"):
    """An instruction in the midst of a conversation."""

    content: str | Annotated[list[Text], Meta(min_length=1)]


class Tool(Struct):
    """A tool; one without a type is the client's own."""

    name: str = ""
    type: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] | None = None


class Choice(Struct, tag_field="type", forbid_unknown_fields=True):
    """Whether and which tools are to be used."""


class Auto(Choice, tag="auto"):
    """As the model likes."""

    disable_parallel_tool_use: bool | None = None


class AnyTool(Choice, tag="any"):
    """Some tool."""

    disable_parallel_tool_use: bool | None = None


class NamedTool(Choice, tag="tool"):
    """This tool."""

    name: str
    disable_parallel_tool_use: bool | None = None


class NoTool(Choice, tag="none"):
    """No tool."""


class JsonSchema(Block, tag="json_schema", forbid_unknown_fields=True):
    """An answer in JSON of this schema."""

    schema: dict[str, Any]


class OutputConfig(Struct):
    """How much to spend on the answer and what form it has."""

    effort: str | None = None
    format: JsonSchema | None = None


class Metadata(Struct):
    """Whom the request serves."""

    user_id: str | None = None


class Fields(Struct, kw_only=True):
    """The fields of any request that the translation reads, less the bound on the answer."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    messages: Annotated[list[UserTurn | AssistantTurn | SystemTurn], Meta(min_length=1)]
    system: str | list[Text] | None = None
    tools: list[Tool] | None = None
    tool_choice: Auto | AnyTool | NamedTool | NoTool | None = None
    thinking: dict[str, Any] | None = None
    output_config: OutputConfig | None = None
    stop_sequences: list[str] | None = None
    stream: bool | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


class PromptBody(Fields):
    """A request to count the tokens of a prompt; it need not bound an answer."""

    max_tokens: Bound | None = None


class MessagesBody(Fields, kw_only=True):
    """A request for an answer."""

    max_tokens: Bound
