"""Idempotency keys: a request that its caller sends twice is bought once.

`answers.py` gives a request its turn under a key and keeps the answer; `tables.py` is where. The home is the database,
so that it holds over restarts and for every process. Answers are text: only callers who name a key have theirs kept,
for a day, and only digests of the key and of the request are stored beside them.
"""
