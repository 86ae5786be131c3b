"""Who is told when a budget's step is reached, and how: the webhook of the team or of the installation, and the log.

`watching.py` looks where budgets stand, again and again, and `values.py` finds the users, sessions and other values
that spend; `lateness.py` says how long a window is looked at after its end. `sending.py` delivers what has fired;
`messages.py` is what a receiver gets, and `receivers.py` who that is. The state machine and its memory are
`governance.alerts`.
"""
