"""The two kinds of tool calls: functions, which take JSON, and custom tools, which take free text."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKind:
    """What one kind of call is named in either form.

    Attributes:
        type: of the tool and of its calls in the chat form; also the field that holds the call.
        said: the field with what the model says to the tool.
        item: the type of the call as an item.
        output: the type of its result as an item.
        prefix: what the ids of its items begin with.
        event: what the names of its events begin with.
    """

    type: str
    said: str
    item: str
    output: str
    prefix: str
    event: str


FUNCTION = CallKind(
    type="function",
    said="arguments",
    item="function_call",
    output="function_call_output",
    prefix="fc",
    event="response.function_call_arguments",
)
CUSTOM = CallKind(
    type="custom",
    said="input",
    item="custom_tool_call",
    output="custom_tool_call_output",
    prefix="ctc",
    event="response.custom_tool_call_input",
)

BY_TYPE: Mapping[str, CallKind] = {kind.type: kind for kind in (FUNCTION, CUSTOM)}
BY_ITEM: Mapping[str, CallKind] = {kind.item: kind for kind in (FUNCTION, CUSTOM)}
