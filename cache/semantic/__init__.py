"""Answers to questions that mean the same: found by meaning, served only within a bound on being wrong.

Read in this order: `question.py` (what of a request is compared, and when nothing may be), `scope.py` (the wall around
everything that is not compared), `lookup.py` (find, decide, and learn from every answer that was bought). What the
parts decide is theirs to say: `cache.detecting` which questions no stored answer fits, `cache.embedding` and
`cache.index` which questions are near, `cache.guards` and `cache.verifying` whether they ask the same, and
`cache.learning` whether that is good enough.

Nothing here knows HTTP, keys or money: who asks is a sharing group (`cache.partition`), and what answers a model class.
"""
