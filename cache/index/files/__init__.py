"""How an index is written down.

Read in this order: `records.py` (what a file holds), `journal.py` (the log of changes), `snapshot.py` (all there is at
one moment), `recovery.py` (what a folder still knows after whatever has happened to it).

It knows no event loop: every function may block, and is called in a thread.
"""
