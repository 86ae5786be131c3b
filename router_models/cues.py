"""Words that say how a prompt is put, by what is counted of them; all of English, as the labelled prompts are."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    "maths": "sqrt integral derivative equation polynomial matrix theorem proof prove modulo probability triangle"
    " vector prime divisible function graph field ring group subgroup",
    "negations": "not no never none neither nor except false incorrect least without don't doesn't isn't aren't can't"
    " cannot won't didn't wasn't",
    "bounds": "must should exactly only each every unless then suppose assume such respectively ensure format json"
    " given following",
    "comparisons": "more less fewer greater thrice double triple times percent percentage ratio per same",
    "fractions": "half halves third thirds quarter quarters fourth fifth",
    "ifs": "if",
    "rests": "remain remains remaining remainder rest left leftover",
    "earlier": "originally initially start starts started starting begin begins began beginning before after already",
    "thans": "than twice",
    "totals": "total altogether combined together sum average mean",
    "ordinals": "first second third fourth last next previous another other others monday tuesday wednesday thursday"
    " friday saturday sunday",
    "numerals": "one two three four five six seven eight nine ten eleven twelve dozen twenty thirty hundred thousand",
    "times": "second seconds minute minutes hour hours day days week weeks month months year years age old",
    "money": "dollar dollars cent cents euro euros pound pounds price prices cost costs",
    "why": "why explain because cause causes reason discuss analyze analyse compare evaluate",
    "which": "which what who whom whose where when",
    "write": "write compose draft story poem essay email letter summarize summarise rewrite translate list generate"
    " create",
    "statements": "statement statements scenario i ii iii iv",
}

CUES: Final = {
    name: frozenset(words.split())
    for name, words in _WORDS.items()
}  # fmt: skip
"""The words of each kind, in lower case."""
