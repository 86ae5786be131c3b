"""Reading the ledger back: what it holds, for those who ask in bulk.

`traffic.py` gives the recorded requests in the order of their arrival, for a policy to be tried on them.
"""
