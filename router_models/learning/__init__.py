"""How a router learns: from labelled prompts to heads, and from heads to one prediction.

Read `training.py` first: it is the whole procedure. `prompts.py` is what heads see; each head has a file under the name
of its technique (`ridge.py`, `terms.py`, `similarity_ranking.py`, `matrix_factorisation.py`), and `ensemble.py` makes
one prediction of them. All is numpy. Nothing here embeds a text, reads a file or knows a policy.
"""
