"""The policy's history as the gateway uses it: texts of `governance.policy.history`, read into policies.

`reading.py` finds the policy in force and those of the past, `starting.py` says which one a gateway starts with,
`applying.py` puts another one in force or in the shade, `shadowing.py` says what that one would have done, and
`masking.py` how a text is shown.
"""
