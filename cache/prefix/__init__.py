"""Prefixes that providers keep: what a request has in common with those before it, and whether keeping it pays.

A provider's own cache reads the start of a prompt cheaply when it has met the same bytes lately; some want that start
marked, and take more for writing it. Read in this order: `digests.py` (when are two prefixes the same?), `memory.py`
(what was met when, and which provider keeps it still), `reuse.py` (how likely is it to come again?), `placing.py`
(which marks pay?). `affinity.py` sends what was served somewhere there again; `ordering.py` says a request so that
equal ones begin with equal bytes; `traces.py` is what the ledger is told.

The package knows no bodies, no providers and no prices: it sees digests, counts of tokens, and rates as whole numbers.
Time is passed in, and memory is bounded.
"""
