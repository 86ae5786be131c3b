"""Deferred work: batches of requests, run when nobody is in a hurry.

A batch is handed in over `/v1/batches`, or by a single request that may wait (`accepting.py`). `validation.py` reads
its input, `lines.py` runs each line as the request that it is, through the same steps as any other, `outcomes.py`
words what came of it, and `patience.py` says which failures are worth another run, and when. `runner.py` puts them
together: interactive requests always go first (`traffic.py`), and an app's work keeps to its window (`timetable.py`).
`wishes.py` is what the submitter asked of the gateway, kept with the batch.

The lines of an app that may use its providers' batch APIs are carried there by `provider_batches/`.

Where the work waits is `governance/deferred/`; what runs here has nothing of its own that a restart could lose.
"""
