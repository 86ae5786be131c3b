"""The endpoints: parse, call, render. Each is a few lines around what it serves.

`edge.py` is what the hot endpoints share: identify the caller, read the body, turn errors into replies.
`conversation.py`, at which models are asked in four dialects, `embeddings.py` and `counts.py` are plain ASGI, because a
request costs ten times less there than in the framework's own machinery;
`models.py`, `usage.py`, `files.py`, `batches.py` and `operator.py` are ordinary routes, and so is all of `admin/`.
"""
