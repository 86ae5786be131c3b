"""From what a router predicts to what may be promised of it.

`isotonic.py` makes predictions probabilities, `coverage.py` says how like its training a prompt is, `thresholds.py`
says which threshold keeps how much quality or sends how many prompts to the strong model. All of it rests on
predictions for prompts that were not learned from.
"""
