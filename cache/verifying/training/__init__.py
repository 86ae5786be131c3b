"""How the verifier is learned: `python -m cache.verifying.training` writes `weights/verifier.safetensors` anew.

Read in this order: `pairs.py` (labelled pairs from `data/` and from files that are given), `rewording.py` (the same
question again, as people type it), `fitting.py` (boosted trees that may only count a feature in its direction, and how
they do on questions that were held out), `__main__.py` (all of it in order). Only here is scikit-learn used.
"""
