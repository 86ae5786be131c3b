"""A vocabulary of three control tokens, the 256 bytes and one merge, for `tests.support.tiny_model`."""

from __future__ import annotations

from local_engine.text.tokenizer import Tokenizer
from local_engine.text.vocabulary import Vocabulary

TINY_CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

TINY_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_names() -> tuple[str, ...]:
    """Return the 256 bytes in GPT-2's printable alphabet, by byte."""
    printing = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    return tuple(chr(byte) if byte in printing else chr(next(others)) for byte in range(256))


def tiny_vocabulary(*, adds_bos: bool = False, missing: bytes = b"") -> Vocabulary:
    """Build the vocabulary: control tokens 0 to 2, byte b at `3 + b`, and the merge of bytes 1 and 2 at 259.

    Bytes in `missing` get names that no text can reach.
    """
    left, right = byte_names()[1:3]
    names = tuple("?" * (byte + 2) if byte in missing else name for byte, name in enumerate(byte_names()))
    return Vocabulary(
        tokens=(*TINY_CONTROL, *names, left + right),
        merges=(f"{left} {right}",),
        control=frozenset({0, 1, 2}),
        pre="smollm",
        bos=1,
        adds_bos=adds_bos,
        eos=(2, 0),
    )


def tiny_tokenizer() -> Tokenizer:
    """Build a tokenizer whose token for byte b is `3 + b`, in all text that has no byte 1 before a byte 2."""
    return Tokenizer(tiny_vocabulary())
