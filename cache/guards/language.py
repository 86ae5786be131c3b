"""The script and the language a question is written in: an answer comes back in the same."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cache.guards.words import Words

_TELLING = {
    "en": "the is are what how do does my i you can to of and where when why which for with it this have",
    "de": "der die das ist sind wie was ich mein meine kann und wo wann warum welche für mit ein eine nicht auf den",
    "fr": "le la les est sont comment quel quelle je mon ma mes puis et où quand pourquoi pour avec un une des du que",
    "es": "el la los las es son cómo qué mi mis puedo y dónde cuándo por para con un una de del que cuál está",
    "it": "il lo la gli è sono come cosa mio mia posso e dove quando perché per con un una di del che quale",
    "pt": "o os as é são como que meu minha posso e onde quando porque para com um uma do da qual está não",
    "nl": "de het is zijn hoe wat ik mijn kan en waar wanneer waarom welke voor met een niet op van",
}
_LANGUAGES = {language: frozenset(words.split()) for language, words in _TELLING.items()}
_LEAST = 2  # telling words, and this many more than of any other language


@dataclass(frozen=True, slots=True)
class Written:
    """How a question is written.

    Attributes:
        script: The script of most of its letters, or the empty word when it has none.
        language: Its language where that is plain, or the empty word.
    """

    script: str
    language: str


def read(words: Words) -> Written:
    """Tell the script and, where it is plain, the language."""
    scripts = Counter(_script(letter) for letter in words.text if letter.isalpha())
    script = min(scripts, key=lambda name: (-scripts[name], name)) if scripts else ""
    counts = sorted(((sum(word in known for word in words.words), name) for name, known in _LANGUAGES.items()))
    (second, _), (most, language) = counts[-2:]
    return Written(script, language if script == "LATIN" and most >= second + _LEAST else "")


def differ(a: Written, b: Written) -> bool:
    """Tell whether the questions are written in different scripts or languages."""
    scripts = bool(a.script and b.script) and a.script != b.script
    return scripts or (bool(a.language and b.language) and a.language != b.language)


@lru_cache(maxsize=4_096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split()[0].split("-")[0]
