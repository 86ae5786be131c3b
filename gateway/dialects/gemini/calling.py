"""From the body of a chat to a provider's Gemini request.

Spec: the Gemini API reference, "Generating content". Unless they are asked for by name, its fields are those that
Vertex AI knows as well.
"""

from collections.abc import Mapping
from typing import Any

from gateway.dialects.gemini.chat_body import ChatBody
from gateway.dialects.gemini.generation import to_generation
from gateway.dialects.gemini.names import thinks_by_level
from gateway.dialects.gemini.tools import to_tools
from gateway.dialects.gemini.turns import to_contents, to_instruction
from gateway.dialects.messages import BETAS
from gateway.errors import BadRequest
from gateway.wire.body import shaped

_ASKS_NOTHING = frozenset(
    {BETAS, "cache", "cache_control", "cache_salt", "context_management", "include", "metadata", "output_config",
     "prompt_cache_key", "safety_identifier", "stream", "stream_options", "truncation", "user"}
)  # fmt: skip
"""What is addressed to us, what every stream of this dialect meets, hints to another maker's cache, and what another
dialect may ask for whose absence leaves the answer what it is."""

_NO_WORD: Mapping[str, tuple[object, ...]] = {
    "functions": ([],),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "store": (False,),
    "verbosity": ("medium",),
}
"""Fields without a word here, and the values of them that ask for nothing; of any other field only null does."""


def to_gemini(chat: dict[str, Any]) -> dict[str, Any]:
    """Return the Gemini request that asks for what the body of a chat asks for; the model's name is no part of it.

    Raises:
        BadRequest: a field cannot be said in this dialect; `param` is its path.
    """
    fields = shaped(chat, ChatBody)
    for name, value in chat.items():
        known = name in ChatBody.__struct_fields__ or name in _ASKS_NOTHING
        if not known and value is not None and value not in _NO_WORD.get(name, ()):
            raise BadRequest(f"{name!r} cannot be said to a provider of the Gemini API.", param=name)
    body: dict[str, Any] = {"contents": to_contents(fields.messages, vouched=thinks_by_level(fields.model))}
    body |= to_instruction(fields.messages) | to_tools(fields)
    body["generationConfig"] = to_generation(fields)
    if fields.safety_settings is not None:
        body["safetySettings"] = fields.safety_settings
    if fields.service_tier == "flex":
        body["serviceTier"] = "flex"
    return body
