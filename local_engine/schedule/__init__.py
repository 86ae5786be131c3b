"""Which tokens are computed in which step.

`scheduler.py` is the file to read first: one rule serves prefill, chunked prefill, decode and resumption. `sequence.py`
is what it knows of one choice of a request; `policies.py` says when a waiting sequence may join. Nothing here knows
text, sampling or tensors.
"""
