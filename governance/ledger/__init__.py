"""The ledger: the append-only record of every request, and the truth that everything else is rebuilt from.

`events.py` says what is recorded, `tables.py` how it is stored, `writer.py` queues and writes it in batches,
`recovery.py` closes what a dead process left open, `reports.py` reads it back as spend and as single requests. The
ledger decides nothing: limits are the purse's. Read `events.py` first.
"""
