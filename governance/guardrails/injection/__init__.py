"""A learned detector of prompt injection: one linear head over the vector that the caches and routers place texts by.

Read in this order: `head.py` (what it says of a vector), `fitting.py` (how it is learned), `measuring.py` (how good it
is). `head.json` is the head that comes with us, and `README.md` its card. It needs numpy, of the `semantic` extra, and
is imported where it is used.
"""
