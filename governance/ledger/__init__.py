"""The ledger: the append-only record of every request, and the truth that everything else is rebuilt from.

`events.py` says what is recorded, `tables.py` and `rows.py` how it is stored. `writer.py` takes entries into the
`journal/`, where they survive the process, and from there into the database by `batches.py`, which adds them up in
`rollups.py` at the same time. `outage.py` says what may be spent while the database is away, `health.py` how all that
is doing. `recovery.py` stores and closes what a dead process left open; `reading/` gives the ledger back as spend and
as single requests. The ledger decides nothing else: limits are the purse's. Read `events.py` first.
"""
