"""A provider over a real socket that speaks every dialect and does exactly what a test tells it to.

`answer.py` is what it says and what that costs: the truth that the gateway's ledger is held against. `script.py` is how
it goes about it: what it tells of the usage, where it stalls, splits, cuts and refuses. Each dialect's module tells the
same answer in its own events: `chat.py`, `completions.py`, `responses.py`, `messages.py`, `gemini.py`, `converse.py`;
`dialect.py` says what a dialect is. `framing.py` makes bytes of events, `delivery.py` sends them as the script has it,
and `fake.py` is the provider, with its memory of what it was asked and what it served.
"""
