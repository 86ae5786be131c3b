"""Alerts: each step of each budget fires exactly once in each window.

`steps.py` is the state machine, pure: from what a budget has settled to the steps that are due. `outbox.py` keeps what
has fired in the database, where one row is both the memory that a step has fired and the message that is still to be
delivered, so that no crash can separate the two. `rolling.py` tells whether a step of a rolling window, which is never
over, has been reached without a break. Who is told, and how, is the gateway's business.
"""
