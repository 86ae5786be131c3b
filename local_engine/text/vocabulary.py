"""What a tokenizer is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """A byte-level BPE vocabulary.

    Attributes:
        tokens: Every token by id, bytes written in GPT-2's printable alphabet; control tokens by their name.
        merges: Pairs in order of priority, each written "left right".
        control: Ids of tokens that are signals and not text.
        pre: How text is cut before merging; a key of `local_engine.text.pretokenize.PRE_TOKENIZERS`.
        bos: The begin-of-sequence token, where there is one.
        adds_bos: Whether the model was trained to see `bos` before every prompt.
        eos: Tokens that end a sequence, the one the file declares first.
    """

    tokens: tuple[str, ...]
    merges: tuple[str, ...]
    control: frozenset[int]
    pre: str
    bos: int | None
    adds_bos: bool
    eos: tuple[int, ...]
