"""Text to token ids and token ids to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import tokenizers
from tokenizers.models import BPE

from local_engine.errors import ContextTooLong, InvalidRequest
from local_engine.text.pretokenize import PRE_TOKENIZERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_engine.text.vocabulary import Vocabulary

_REPLACEMENT: Final = "\ufffd"


def _printable_bytes() -> dict[str, int]:
    """Return GPT-2's alphabet: bytes that print stand for themselves, the others for characters from U+0100 on."""
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printing]
    return {chr(byte): byte for byte in printing} | {chr(256 + i): byte for i, byte in enumerate(others)}


class Tokenizer:
    """A byte-level BPE tokenizer for which text is data.

    Control tokens are left out of the merge vocabulary, so `encode` cannot produce one from any text; they are placed
    by id (`control`). Some vocabularies lack a few rare bytes; a character that needs one is encoded as U+FFFD.

    Attributes:
        vocab_size: Ids run from 0 to `vocab_size - 1`.
        eos_ids: Tokens that end a sequence.
        eos_id: The one the model itself ends with, or None.
        bos_id: The begin-of-sequence token, or None.
        adds_bos: Whether a raw prompt should begin with `bos_id`; `encode` does not add it.
        control_ids: Control tokens by name.
        longest: Bytes of the longest token, a control token's name included.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocab_size: Final = len(vocabulary.tokens)
        self.eos_ids: Final = frozenset(vocabulary.eos)
        self.eos_id: Final = vocabulary.eos[0] if vocabulary.eos else None
        self.bos_id: Final = vocabulary.bos
        self.adds_bos: Final = vocabulary.adds_bos
        self.control_ids: Final[Mapping[str, int]] = {vocabulary.tokens[i]: i for i in sorted(vocabulary.control)}
        plain = {token: i for i, token in enumerate(vocabulary.tokens) if i not in vocabulary.control}
        left_right = (merge.partition(" ") for merge in vocabulary.merges)
        self._bpe = tokenizers.Tokenizer(BPE(plain, [(left, right) for left, _, right in left_right]))
        self._bpe.pre_tokenizer = PRE_TOKENIZERS[vocabulary.pre]()
        alphabet = _printable_bytes()
        self._bytes: Final = tuple(
            b"" if i in vocabulary.control else _spell(token, alphabet) for i, token in enumerate(vocabulary.tokens)
        )
        self.longest: Final = max(map(len, (*self._bytes, *self.control_ids)))
        self._missing: Final = frozenset(byte for char, byte in alphabet.items() if char not in plain)

    def require_fit(self, characters: int, limit: int, param: str | None = None) -> None:
        """Refuse a text so long that it must have more than `limit` tokens, without the seconds that encoding it takes.

        Raises:
            ContextTooLong: It must: a character has at least one byte, and a token at most `longest`.
        """
        least = -(-characters // self.longest)
        if least > limit:
            raise ContextTooLong(least, 0, limit, param, is_at_least=True)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, read as plain text whatever it looks like.

        Raises:
            InvalidRequest: The text holds a lone surrogate and is no Unicode text.
        """
        # A batch of one: unlike `encode` it lets other threads run, and a long text takes seconds.
        return self._bpe.encode_batch_fast([self._representable(text)], add_special_tokens=False)[0].ids

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes a token stands for, perhaps a part of a character; nothing for control tokens."""
        return self._bytes[token]

    def control(self, name: str) -> int:
        """Return the id of a control token; KeyError when the model has none of that name."""
        return self.control_ids[name]

    def _representable(self, text: str) -> str:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise InvalidRequest("text holds a lone surrogate, which is no character") from None
        if self._missing.isdisjoint(data):
            return text
        return "".join(char if self._missing.isdisjoint(char.encode()) else _REPLACEMENT for char in text)


def _spell(token: str, alphabet: Mapping[str, int]) -> bytes:
    """Return a token's bytes; tokens added by hand may hold characters outside the alphabet and are plain text."""
    codes = [alphabet.get(char) for char in token]
    known = [code for code in codes if code is not None]
    return bytes(known) if len(known) == len(codes) else token.encode()
