"""Deferred work: files of requests, batches of them, and the durable queue that their lines wait in.

`records.py` has the values and `tables.py` how they are stored. `files.py` keeps what was uploaded and gives back what
came of it, `batches.py` takes batches in and shows them, `progress.py` moves them from one status to the next, and
`queue.py` hands out their lines: each to one worker at a time, and each with one result. `parcels.py` keeps what of
them is on its way to a provider's own batch API, and back. `windows.py` says when work that may wait for the night
should run.

A line is one worker's while its lease lasts; a worker that lives renews it, and the line of one that died is handed
out again under a new generation. What runs a line, and what it costs, is no business of this package: the ledger knows
each run as a request of its own (`Line.request_id`).
"""
