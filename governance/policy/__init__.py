"""What a policy says about who may spend what, and what that makes of each request.

`sections.py` is the document's governing part as it is written, `fields.py` and `patterns.py` the amounts and patterns
it is written with, and `rules.py` what it compiles to: read that one first. `history.py` remembers which text was in
force when, and does not read it.
"""
