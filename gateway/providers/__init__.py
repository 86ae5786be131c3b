"""Upstream models. Nothing else in the gateway opens a connection outwards.

`upstream.py` says what the gateway needs of a provider; `apis/` has one file for each API that providers speak, and
`http.py` calls them all and reads what they answer by `replies.py`; `kinds.py` says which kind of provider speaks
which; `refusals.py` what a provider's error means for our caller; `leaving.py` what happens to an answer whose client
has left; `batching/` hands many calls in as one batch; `vllm_metrics.py` is how fast a vLLM server is; `absent.py`
stands in for a provider that cannot be used; `transport.py` is the HTTP client, and the seam for a faster one;
`pool.py` keeps open what the policies need. `webhooks.py` is the client for alerts, which are no models.

A provider knows no caller, budget or policy: it is handed a body and gives back chunks or a reason why not.
"""
