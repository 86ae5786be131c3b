"""The policy's history as the gateway uses it: texts of `governance.policy.history`, read into policies.

`reading.py` finds the policy in force, the one that is tried beside it, and any of the past. `starting.py` says which
policy a gateway starts with, `applying.py` how another one is put in force, and `masking.py` how a text is shown.
"""
