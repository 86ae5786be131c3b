"""What changes between two policies, and whom it would refuse.

`parts.py` lays a policy out as named parts, so that no change can be missed; `differences.py` words what differs, and
`access.py` who reaches which models. `effects.py` holds the change against the ledger: where each budget stands, and
who spent lately and would now be refused. Read `differences.py` first.
"""
