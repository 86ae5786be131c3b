"""Where the prefixes of a chat end, and which marks for a cache are in it already."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from cache.prefix.digests import chained
from cache.prefix.reuse import Kind

MARK: Final = "cache_control"
_MARK_NAME: Final = b'"cache_control"'
_LEADS: Final = ("system", "developer")
_TURNS: Final = ("user", "tool")
_CHOICES: Final = ("tool_choice", "parallel_tool_calls", "thinking", "reasoning_effort")
"""Fields that part the messages of two chats with the same tools and system prompt."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a prefix ends.

    Attributes:
        at: the message that ends it; -1 for the tools.
        digest: names the prefix, as its tenant's.
        size: its bytes.
    """

    at: int
    digest: bytes
    size: int


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The prefixes of a chat.

    Attributes:
        tools: the end of its tools, where it has any.
        system: the end of its system prompt, where it has one.
        turns: the ends of what its user and its tools have said, from the start on; one at the least.
        grown: an assistant has spoken before the last of them.
        size: bytes of all of it.
        marks: how many marks its client has put.
        hours: one of those is for an hour.
        automatic: its client has asked for a mark at its end, wherever that is.
    """

    tools: End | None
    system: End | None
    turns: tuple[End, ...]
    grown: bool
    size: int
    marks: int
    hours: bool
    automatic: bool

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """All of them, from the shortest on."""
        return tuple(end for end in (self.tools, self.system, *self.turns) if end is not None)

    @property
    def latest(self) -> End:
        """Where the turn ends that is to be answered."""
        return self.turns[-1]

    @property
    def kind(self) -> Kind:
        """What that ends."""
        return "conversation" if self.grown else "opening"

    @property
    def lasting(self) -> tuple[tuple[Kind, End], ...]:
        """What many conversations have in common."""
        both: tuple[tuple[Kind, End | None], ...] = (("tools", self.tools), ("system", self.system))
        return tuple((kind, end) for kind, end in both if end is not None)


def outline(body: Mapping[str, Any], salt: bytes) -> Outline | None:
    """Return the prefixes of a chat, salted with whose they are; None where it is no chat, or nobody asks anything.

    Marks are no part of a prefix: a client that moves its own from turn to turn goes on with the same conversation.
    """
    messages, tools = body.get("messages"), body.get("tools") or []
    if not isinstance(messages, list) or not isinstance(tools, list):
        return None
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    lead = next((at for at, role in enumerate(roles) if role not in _LEADS), len(roles))
    choices = {name: body[name] for name in _CHOICES if name in body}
    try:
        parts = [_encoded(tools), _encoded(messages[:lead]), _encoded(choices), *map(_encoded, messages[lead:])]
    except (RecursionError, UnicodeEncodeError):
        return None
    found = _marks(body, tools, messages) if any(_MARK_NAME in part for part in parts) or MARK in body else []
    if found:
        parts = [_encoded(msgspec.json.decode(part), bare=True) if _MARK_NAME in part else part for part in parts]
    ends: list[End] = []
    size = 0
    for at, (part, digest) in enumerate(zip(parts, chained(salt, parts), strict=True)):
        size += len(part)
        ends.append(End(at - 3 + lead, digest, size))
    turns = tuple(end for end in ends[3:] if roles[end.at] in _TURNS)
    if not turns:
        return None
    return Outline(
        tools=End(-1, ends[0].digest, ends[0].size) if tools else None,
        system=End(lead - 1, ends[1].digest, ends[1].size) if lead else None,
        turns=turns,
        grown="assistant" in roles[: turns[-1].at],
        size=size,
        marks=len(found),
        hours=any(isinstance(mark, dict) and mark.get("ttl") == "1h" for mark in found),
        automatic=body.get(MARK) is not None,
    )


def _encoded(part: object, *, bare: bool = False) -> bytes:
    return msgspec.json.encode(_bare(part) if bare else part)


def _bare(part: object) -> object:
    """Return a part without its marks. What a tool takes may be called like one, and stays."""
    if isinstance(part, list):
        return [_bare(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: value if name in {"function", "input_schema"} else _bare(value)
        for name, value in part.items()
        if name != MARK
    }


def _marks(body: Mapping[str, Any], tools: list[Any], messages: list[Any]) -> list[Any]:
    own = [body[MARK]] if body.get(MARK) is not None else []
    on_tools = [tool[MARK] for tool in tools if isinstance(tool, dict) and tool.get(MARK) is not None]
    return [*own, *on_tools, *_within(messages)]


def _within(value: object) -> list[Any]:
    if isinstance(value, list):
        return [mark for each in value for mark in _within(each)]
    if not isinstance(value, dict):
        return []
    own = [value[MARK]] if value.get(MARK) is not None else []
    return [*own, *(mark for name, each in value.items() if name != MARK for mark in _within(each))]
