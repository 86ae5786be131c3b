"""Rules over the text of requests and answers: what is looked for, where it is, and what stands in its place.

Read in this order: `rules.py` (what a rule is), `scanning.py` (what looks into a text promises), `patterns/` and
`segments.py` (patterns and detectors over a text that comes in pieces), `texts.py` (one text on its way through all
rules), `placeholders.py` (what stands in a request for what was redacted, and how it is put back), `schema.py` (whether
an answer has a shape), `injection/` (the learned detector of prompt injection).

Everything is local. The package knows nothing of chats, of who asks a model, of embeddings or of HTTP; vectors and
detectors are handed in.
"""
