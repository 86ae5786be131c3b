"""How each family of models cuts text into words before byte pairs are merged.

The names are those that GGUF files use in `tokenizer.ggml.pre`. A name that is not here is refused when a file is
opened: a wrong cut gives other tokens than the model was trained on, and no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tokenizers.pre_tokenizers import PreTokenizer


def _gpt2() -> PreTokenizer:
    return ByteLevel(add_prefix_space=False)


def _smollm() -> PreTokenizer:
    return Sequence([Digits(individual_digits=True), _gpt2()])


PRE_TOKENIZERS: Final[Mapping[str, Callable[[], PreTokenizer]]] = {"gpt-2": _gpt2, "smollm": _smollm}
"""Builders by name."""
