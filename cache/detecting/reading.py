"""What of a text is the asker's own question.

A text that is quoted, pasted or given to be worked on is material: "translate: what is the weather today?" asks nothing
about the weather. It is set aside before anyone looks for reasons, and remembered as being there.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from cache.detecting.signs import words

_LONGEST_ASK = 600  # characters; beyond, people ask at the start or at the end and paste in between
_END = 300

_STRAIGHT = str.maketrans("\u2019\u2018\u201c\u201d\u201e\u00ab\u00bb", '\'\'"""""', "¿¡")
_SHORTENED = re.compile(
    r"\b(?:(what|who|where|when|how|that|there|here)'?s|(it|he|she)'s|(i)'?m|(you|we|they)'re|(i|you|we|they)'ve|(i"
    r"|you|we)'d|(i|you|we|it)'ll)(?![\w'])"
)
_QUOTED = re.compile(r"```.*?```|`[^`\n]+`|\"[^\"\n]{2,}\"|(?<!\w)'[^'\n]{3,}'(?!\w)", re.DOTALL)
_TASK = (
    r"(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|correct|proofread|classify|explain|fix|debug|review"
    r"|improve|shorten|parse|extract|what does|how (?:do|would|can|could) (?:i|you|one|we) (?:say|spell|pronounce"
    r"|translate)|(?:meaning|translation|spelling|grammar|sentiment|tone) of|übersetze|fasse|traduis|traduire|résume"
    r"|corrige|traduce|traducir|resume|wie sagt man|cómo se dice|comment dit-on)\b"
)
_MATERIAL = re.compile(_TASK + r"[^:\n]{0,80}:\s*\S[\s\S]*")
_SAID = re.compile(
    r"\b((?:translate|say|spell|pronounce|write)) (?!to\b|it\b|that\b|this\b).{3,200}? (in|into"
    r"|to) (?:\w+ )?(?:english|german|french|spanish|italian|japanese|chinese|korean|russian|portuguese|dutch|polish"
    r"|arabic|hindi|latin|greek|swedish|turkish|mandarin|\w+ish)\b"
)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_OPENING = re.compile(
    r"(?:(?:hi|hey|hello|ok|okay|so|well|please|pls|thanks|thank you|alright|um|now|great|perfect|good|cool"
    r"|nice|right|then|good (?:morning|evening|afternoon)|bitte|hallo|bonjour|salut|hola|por favor|s'il (?:te"
    r"|vous) plaît|there)\b[ ,!.]*)*"
)
_ASKED = re.compile(
    r"(?:(?:can|could|would|will) (?:you|someone|u)(?: please| kindly| just| maybe)*|i(?: would| )?(?:want|need|like"
    r"|would like) you to(?: please)?|go ahead and|please|just|(?:kannst|könntest) du(?: bitte| mir)*"
    r"|können sie(?: bitte)?|(?:peux-tu|pouvez-vous|pourrais-tu|tu peux)|(?:puedes|podrías|puede)(?: por favor)?) "
)
_METHOD = re.compile(
    r"(?:^|[.?!,;:] +|\b(?:and|but|know|wondering|tell me|explain|show me|asking|remember|understand|learn"
    r"|figure out) )(?:how (?:do|does|can|could|should|would|to|might|come|often (?:do|does|should|is))\b|how (?:is"
    r"|are|was|were)\b.{2,60}?\b(?:calculated|computed|determined|decided|set|measured|defined|made|formed|paid out"
    r"|taxed|handled|written|used|produced|counted|named|called|abbreviated|different|related)\b|what (?:is"
    r"|are)(?: the| a| an)? (?:\w+ )?(?:ways?|steps?|process|procedure|differences?|meaning|definition|purpose|point"
    r"|formula|syntax|method|rules?|advantages?|benefits?|risks?|causes?|idea|theory|history|origin)\b|what (?:does"
    r"|do|did)\b.{1,60}?\b(?:mean|stand for|do)\b|what is meant\b|what (?:can|should|must|could) (?:i|we|you)\b"
    r"|what do (?:i|we) (?:do|need)\b|what (?:happens|causes|makes|determines|counts|affects|influences|if)\b"
    r"|(?:explain|define|describe|compare)\b|why\b|where (?:can|do|could|should|would) (?:i|we|you|one|people)\b"
    r"|(?:can|could|may|must|should|shall) (?:i|we|one|my|our|someone|people)\b|is (?:it|there) (?:possible|a way"
    r"|any way|an option|okay|ok|allowed|legal|safe)\b|do (?:i|we) (?:need|have) to\b|wie (?:kann|kannst|könnte|muss"
    r"|soll|geht|(?!heiße)\w+e) (?:ich|man|wir)\b|wie funktioniert\b|warum\b|wieso\b|was bedeutet\b|erkläre?\b"
    r"|comment\b|pourquoi\b|que (?:signifie|veut dire)\b|explique|cómo\b|como (?:puedo|se|hago|cambio)\b|por qué\b"
    r"|qué significa\b|explica)"
)
_STOP = words(
    "a an the of in on at to for from by with about into is are was were be been am do does did done has have had"
    " will would can could should shall may might must i you we me us my your our he she it they them him her his"
    " its their this that these those there here what which who whom whose when where why how and or but so if then"
    " than as not no yes ok okay please thanks thank just also too very really any some one ones other another"
    " others much many more most again now hi hey hello well oh um u pls let go get got want need like tell me say"
    " give it's im s t m re ve ll d all else same thing things stuff something anything ja nein bitte danke der die"
    " das den dem ein eine einen und oder aber ich du sie wir mir mich ist sind war wie was wer wo wann warum es im"
    " am zu von mit für auf noch mal oui non le la les un une des du de et ou mais je tu il elle nous vous moi est"
    " sont à au en que qui quoi où quand comment pourquoi merci sí el los las una y o pero yo él ella nosotros es"
    " son qué quién dónde cuándo cómo por para con lo gracias mucho sure"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the tests look at it.

    Attributes:
        text: The whole text as it was said, with plain quotes and spaces.
        ask: The asker's own words, folded, with contractions spelled out and material set aside.
        start: `ask` without greetings and without "can you please".
        polite: "Can you", "I want you to" or the like stood before `start`.
        words: The words of `ask`.
        content: Those that carry meaning, in order.
        material: Something was quoted or given to be worked on.
        method: It asks how something is done or what it means, which is the same whoever asks and whenever.
    """

    text: str
    ask: str
    start: str
    polite: bool
    words: frozenset[str]
    content: tuple[str, ...]
    material: bool
    method: bool


def read(text: str) -> Reading:
    """Set the material aside and look at what is asked."""
    straight = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    folded = _clip(straight).lower().strip()
    ask = _QUOTED.sub(" … ", folded)
    if ":" in ask:
        ask = _MATERIAL.sub(lambda found: found.group().partition(":")[0] + " …", ask, count=1)
    ask = _SAID.sub(r"\1 … \2", ask, count=1)
    material = "…" in ask or len(text) > _LONGEST_ASK
    ask = " ".join(_SHORTENED.sub(_spelled_out, ask).split())
    opening = _OPENING.match(ask)
    start = ask[opening.end() :] if opening else ask
    asked = _ASKED.match(start)
    found = _WORD.findall(ask)
    return Reading(
        text=straight,
        ask=ask,
        start=start[asked.end() :] if asked else start,
        polite=asked is not None,
        words=frozenset(found),
        content=tuple(word for word in found if word not in _STOP),
        material=material,
        method=_METHOD.search(ask) is not None,
    )


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_ASK else f"{text[:_END]}\n{text[-_END:]}"


def _spelled_out(found: re.Match[str]) -> str:
    word = next(part for part in found.groups() if part)
    ending = found.group()[len(word) :].lstrip("'")
    return f"{word} {({'m': 'am', 're': 'are', 've': 'have', 'd': 'would', 'll': 'will'}).get(ending, 'is')}"
