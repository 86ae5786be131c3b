"""The journal: what the ledger has been told and the database may not have yet, on the local disk.

It serves two needs with one mechanism: a process that is killed, and a database that is away. `frames.py` says how a
record is written and found again, `segments.py` what a file of them is, `spool.py` how a process keeps its own files
and takes over those of a dead one, and `backlog.py` how records wait there for the database. The journal knows bytes
and ledger entries; it knows neither SQL nor policy. Read `backlog.py` first.
"""
