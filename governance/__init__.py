"""Governance: who may spend, how much, and what was spent.

Identity (`identity.py`, `keys.py`) tells who calls; `attribution.py` tells whom the cost belongs to; `prices/` turns
tokens into `money.py`; `limits/` and `windows.py` say what is allowed when; `purse.py` is the only way money is spent:
it holds the worst case against `counters/` (`holds.py`), settles the real cost, and writes `ledger/`, which is the
truth that counters are rebuilt from. `policy/` reads a policy's governing sections; `people/` says who may administer
and `audit/` what they did; `alerts/` tells when a budget's step is reached; `idempotency/` keeps what a request that is
sent twice was answered, and `deferred/` the work that may wait. `database.py` opens the database; `errors.py` lists
every refusal.

It knows no HTTP, no provider and no model: it is given prices, token counts and instants. Read `purse.py` first.
"""
