"""How the verifier is learned: `python -m cache.verifying.training` writes its artifact anew.

Read in this order: `pairs.py` (labelled pairs from the groups of the package and from files that are given),
`rewording.py` (the same question again, as people type it), `fitting.py` (boosted trees, and how they do on questions
that were held out), `calibrating.py` (which threshold lets through how many wrong answers), `__main__.py` (all of it in
order). Only here is scikit-learn used, which the product does not need.

The lexicon is fitted before that, by `python -m cache.verifying.training.lexicon`: `wordnet.py` (which words mean the
same), `counter_fitting.py` (vectors that say so), `lexicon.py` (both in order). What the verifier learned belongs to
the lexicon it was learned with: after the one, fit the other.
"""
