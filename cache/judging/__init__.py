"""Whether two answers say the same: the local judge, which costs nothing and is wrong at a measured rate.

Read `answers.py` first (the judge), then what it knows beside the guards of `cache.guards`: `texts.py` (what of an
answer is words, and what is code), `refusals.py`, `contrasts.py`. `noise.py` is how often it is wrong, `measuring.py`
measures that on the answers in `answers.txt` and writes `noise.json`.

It says same or different only where it can tell. It knows no question, no store and no model but an embedding.
"""

from cache.judging.answers import AnswerJudge, Verdict
from cache.judging.noise import JudgeNoise, Rate, measured_noise

__all__ = ("AnswerJudge", "JudgeNoise", "Rate", "Verdict", "measured_noise")
