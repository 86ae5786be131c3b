"""What the bytes of a text are made of: the few counts that a tokenizer's work depends on.

A byte-pair tokenizer makes about one token of a common word, more of a long one, one of up to three digits, and of
other scripts so much for a letter as it has learnt of them. So the counts are of words and letters, of digits and
marks, singly and in pairs, of breaks and indents, and of the letters of the larger scripts, by the first byte of each.

Every count is one pass in C over the bytes. None falls when bytes are added at the end.
"""

from typing import Final

MEASURES: Final = (
    "words", "letters", "capitals", "digits", "digit_pairs", "marks", "mark_pairs", "breaks", "indents",
    "latin", "alphabets", "greek", "semitic", "ideographs", "hangul", "syllabics", "rare",
)  # fmt: skip
"""What `spelling` counts, in order.

`digit_pairs` are what is left when every two digits of a number are one, `mark_pairs` every two marks beside each
other, `breaks` line ends, tabs and other signs that are not seen, `indents` every two spaces beside each other.
`latin` are Latin letters with accents, `alphabets` letters of two bytes that have no count of their own, such as
Cyrillic, `semitic` Hebrew and Arabic, `ideographs` Chinese and Japanese, `syllabics` other characters of three bytes,
such as Thai, Devanagari and typographic marks, `rare` those of four, such as emoji.
"""


def _classes() -> bytes:
    """Return a table that puts the byte of a class in place of every byte."""
    table = bytearray(b"-" * 256)  # what continues a character, or is in none
    for name, first, last in (
        (b"n", 0x00, 0x1F), (b".", 0x21, 0x7F), (b" ", 0x20, 0x20), (b"0", 0x30, 0x39), (b"A", 0x41, 0x5A),
        (b"a", 0x61, 0x7A), (b"e", 0xC2, 0xC5), (b"l", 0xC6, 0xDF), (b"g", 0xCD, 0xCF), (b"s", 0xD6, 0xDB),
        (b"t", 0xE0, 0xEF), (b"k", 0xE3, 0xE9), (b"h", 0xEA, 0xED), (b"x", 0xF0, 0xF4),
    ):  # fmt: skip
        table[first : last + 1] = name * (last + 1 - first)
    return bytes(table)


_CLASSES: Final = _classes()
_BEYOND: Final = (b"e", b"l", b"g", b"s", b"k", b"h", b"t", b"x")
_NOTHING: Final = (0,) * len(_BEYOND)
_WORDS: Final = bytes(0x61 if each in b"aA" else 0x20 for each in _CLASSES)


def spelling(text: bytes) -> tuple[int, ...]:
    """Return the counts of a text in UTF-8, in the order of `MEASURES`."""
    count = text.translate(_CLASSES).count
    capitals, digits = count(b"A"), count(b"0")
    ascii_only = (
        (b" " + text.translate(_WORDS)).count(b" a"),
        count(b"a") + capitals,
        capitals,
        digits,
        digits - count(b"00"),
        count(b"."),
        count(b".."),
        count(b"n"),
        count(b"  "),
    )
    beyond = _NOTHING if text.isascii() else tuple([count(name) for name in _BEYOND])
    return (*ascii_only, *beyond)
