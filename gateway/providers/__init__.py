"""Upstream models. Nothing else in the gateway opens a connection outwards.

`upstream.py` says what the gateway needs of a provider; `openai.py` speaks the OpenAI API, which the bundled engine,
vLLM and most of the field share; `kinds.py` says how each kind behaves where that API leaves it open; `refusals.py`
what a provider's error means for our caller; `absent.py` stands in for a provider that cannot be used;
`transport.py` is the HTTP client, and the seam for a faster one; `pool.py` keeps open what the policies need.

A provider knows no caller, budget or policy: it is handed a body and gives back chunks or a reason why not.
"""
