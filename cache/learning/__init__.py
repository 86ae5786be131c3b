"""The learned decision of the semantic cache: serve, explore or ask, one `Learner` per feature, within an error bound.

Read `lookups.py` (the words), then `learner.py` (the whole path). A lookup's neighbours vote (`evidence.py`) for a
group of same answers (`answers/`); a logistic model that starts from a shipped prior (`logistic.py`, `prior.py`) says
how risky the winner is; `threshold.py` says how much risk the bound leaves; `exploring.py` gives up some hits to learn
from them. What comes back is a judge's word (`answers/judging.py` knows how often it errs), which moves the groups,
the model, the bound (`bounds.py`) and the alarm for answers that changed (`drift.py`): together the `state.py`.
`standing.py` is what a feature says of itself.

It knows no text, no vectors, no clock and no I/O: fingerprints and numbers go in, chance is passed in, so that the
same observations always lead to the same state.
"""
