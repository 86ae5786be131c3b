"""`sluice up`: a light parent that starts the engine and the gateway, and stops all that it started.

`supervisor.py` is the whole story and is read first; `plan.py` is what to start, from settings and a policy. `child.py`
ties one process to its parent, `probe.py` asks a server one question, `sockets.py` finds where to listen,
`greeting.py` says what a person sees, `suggestion.py` what to try first.

The parent lives as long as both children, so it imports neither the web stack nor torch. It does not know what the
children do: it hears `/readyz`, and when they end.
"""
