"""The audit log: who did what to this installation, in a chain that shows when it was changed afterwards.

`chain.py` is what an entry is and how it is hashed; `log.py` writes entries, in the transaction of the act itself, and
proves the chain. It knows neither what the acts mean nor who may do them: that is `governance.people`.
"""
