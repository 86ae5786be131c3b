"""Is a stored answer to one question a right answer to another? A learned probability, and what it is learned from.

Read in this order: `question.py` (what is known of one question), `features.py` (what two questions have in common,
each fact with the direction in which it counts), `alignment.py` (their tokens side by side), `verifier.py` (the
probability, and the threshold for an error that is allowed). `lexicon.py` knows which words mean the same, `trees.py`
sums the trees of the model, `weights/` holds what was learned. `training/` learns it, from `data/` and what it is
given.

The package needs the `semantic` extra and is imported where it is used. It knows nothing of stores, tenants or
answers; whether a question may be answered from a cache at all is not asked here.
"""
