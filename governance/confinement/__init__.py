"""Where a request may go, and the proof that it went nowhere else.

`confined.py` leads: a `Confinement` is what a policy says of sensitive text, and makes of the labels of one request the
`Confined` that every later step needs. `sessions.py` keeps the labels of sessions, which only rise; `decisions.py`
writes down what was decided and every call that was made, each entry sealed by the one before; `proving.py` reads all
of it again beside the ledger.

It knows no HTTP and no provider: zones are names. What is sensitive is found by `governance.sensitivity`.
"""
