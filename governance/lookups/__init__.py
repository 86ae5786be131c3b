"""What is on record of the caches: look-ups, purges, and what people thought of an answer.

`records.py` is the file to read first: each request that a cache had a say in, as keys and numbers, never as text. The
semantic cache learns from these rows, every process from those of all. `purges.py` is the list of what has to be
forgotten, which every process follows; `feedback.py` keeps the scores that callers give. `tables.py` is where.

Nothing here knows how a cache decides: what it has learned from a look-up is handed in and given back as bytes.
"""
