"""Chat messages to token ids, through the template that came with the model.

A template writes text, control tokens included, and user text is pasted into it. To keep user text from ever becoming
a control token, every character with which a control token's name can begin is followed by a mark where it stands in
user text. A name in the rendered text that the template itself wrote has no mark, so it is a control token; the marks
are then taken out and the rest is encoded as plain text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

from jinja2 import TemplateError, meta
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from local_engine.errors import InvalidRequest, TemplateRefused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from local_engine.text.tokenizer import Tokenizer

_MARK: Final = "\ufdd0"
"""A noncharacter: Unicode keeps it for internal use, so replacing it in user text loses no text."""

_ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}

# What a template raises when messages have another shape than it was written for.
_RENDER_ERRORS: Final = (TemplateError, TypeError, ValueError, LookupError, AttributeError, RecursionError)


class ChatTemplate:
    """A model's chat template, run in a sandbox.

    Raises ValueError when the source is no template.

    Attributes:
        shows_tools: Whether the template looks at `tools`.
    """

    def __init__(self, source: str, tokenizer: Tokenizer) -> None:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.filters["tojson"] = _to_json
        try:
            self._template = environment.from_string(source, globals={"raise_exception": _raise})
        except TemplateError as error:
            raise ValueError(f"the chat template is no jinja template: {error}") from error
        self._tokenizer = tokenizer
        self._names = {id_: name for name, id_ in tokenizer.control_ids.items()}
        longest_first = sorted(tokenizer.control_ids, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self._openers = sorted({name[0] for name in longest_first})
        self.shows_tools: Final = "tools" in meta.find_undeclared_variables(environment.parse(source))
        self._shows_calls = "tool_calls" in source

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        add_generation_prompt: bool = True,
        limit: int | None = None,
    ) -> list[int]:
        """Return the prompt's token ids.

        Args:
            messages: OpenAI chat messages; content is text or a list of text parts, which are joined by newlines.
            tools: OpenAI tool definitions.
            add_generation_prompt: End with the opening of the assistant's answer.
            limit: Tokens that a prompt may have; a text that must have more is refused before it is encoded.

        Raises:
            InvalidRequest: A message has no known role or no text content, or needs what the template cannot show.
            ContextTooLong: The prompt must have more than `limit` tokens; one that has may still be returned.
            TemplateRefused: The template raised.
        """
        if not messages:
            raise InvalidRequest("at least one message is needed", "messages")
        if tools and not self.shows_tools:
            raise InvalidRequest("this model's chat template cannot show tools", "tools")
        try:
            text = self._template.render(
                messages=[self._message(i, message) for i, message in enumerate(messages)],
                tools=self._marked(list(tools)) if tools else None,
                add_generation_prompt=add_generation_prompt,
                bos_token=self._name(self._tokenizer.bos_id),
                eos_token=self._name(self._tokenizer.eos_id),
            )
        except InvalidRequest:
            raise
        except _RENDER_ERRORS as error:
            raise TemplateRefused(str(error) or type(error).__name__) from error
        if limit is not None:
            self._tokenizer.require_fit(len(text) - text.count(_MARK), limit, "messages")
        return self._one_bos(self._encode(text))

    def _message(self, index: int, message: Mapping[str, Any]) -> dict[str, Any]:
        given = message.get("role")
        role = _ROLES.get(given) if isinstance(given, str) else None
        if role is None:
            raise InvalidRequest(f"role must be one of {', '.join(_ROLES)}", f"messages[{index}].role")
        if message.get("tool_calls") and not self._shows_calls:
            raise InvalidRequest("this model's chat template cannot show tool calls", f"messages[{index}].tool_calls")
        content = _text_of(message.get("content"), f"messages[{index}].content", optional=role == "assistant")
        rest = {key: value for key, value in message.items() if key not in {"role", "content"}}
        return {"role": role, "content": self._marked(content), **self._marked(rest)}

    def _marked(self, value: Any) -> Any:
        """Return a copy of a JSON value in which no text, key or value, can hold a control token's name."""
        if isinstance(value, str):
            value = value.replace(_MARK, "\ufffd")
            for opener in self._openers:  # in a megabyte it takes milliseconds, where a pattern takes half a second
                value = value.replace(opener, opener + _MARK)
            return value
        if isinstance(value, dict):
            return {self._marked(key): self._marked(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._marked(item) for item in value]
        return value

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = []
        end = 0
        for match in self._control.finditer(text):
            ids += self._tokenizer.encode(text[end : match.start()].replace(_MARK, ""))
            ids.append(self._tokenizer.control(match.group()))
            end = match.end()
        return ids + self._tokenizer.encode(text[end:].replace(_MARK, ""))

    def _one_bos(self, ids: list[int]) -> list[int]:
        """Begin with one BOS where the model wants one, whether or not the template wrote it."""
        bos = self._tokenizer.bos_id
        if bos is None or not self._tokenizer.adds_bos:
            return ids
        written = next((i for i, token in enumerate(ids) if token != bos), len(ids))
        return [bos, *ids[written:]]

    def _name(self, token: int | None) -> str:
        return "" if token is None else self._names.get(token, "")


def _text_of(content: Any, param: str, *, optional: bool) -> str:
    if isinstance(content, str):
        return content
    if content is None and optional:
        return ""
    if isinstance(content, list | tuple):
        return "\n".join(_text_of_part(part, f"{param}[{i}]") for i, part in enumerate(content))
    raise InvalidRequest("content must be text or a list of text parts", param)


def _text_of_part(part: Any, param: str) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            raise InvalidRequest('only parts {"type": "text", "text": …} can be read by this model', param)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    """Write JSON without HTML escapes and without escaping the marks."""
    return json.dumps(value, ensure_ascii=False, indent=indent)
