"""The journal: what the ledger has been told and the database may not have yet, on the local disk.

It serves two needs with one mechanism: a process that is killed, and a database that is away. `frames.py` says how a
record is written and found again, `segments.py` what a file of them is, `writing.py` the files of this process,
`legacies.py` those that a dead one left, `spool.py` how the two are told apart, and `backlog.py` how records wait there
for the database. The journal knows bytes and ledger entries; it knows neither SQL nor policy. Read `backlog.py` first.
"""
