"""The OpenAI API as bytes and values, as vLLM speaks it; no HTTP.

`bodies.py` says what a request may hold and `sampling.py` what its numbers mean; `prepare.py` turns a body into engine
requests. On the way back `transcript.py` turns engine events into chunks or one reply, for chat (`chat.py`) and
completions (`completion.py`). `embeddings.py` reads and writes embeddings, `replies.py` holds the smaller answers,
`errors.py` what a caller is told when it fails, `metrics.py` the figures for Prometheus.
"""
