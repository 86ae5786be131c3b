"""What is done so that a provider's failure is not the caller's.

`retrying.py` is the table of which failure is worth another attempt, where and how soon; `breaker.py` leaves alone what
keeps failing; `deployments.py` knows of every model of a provider how it does; `course.py` is the attempts of one
request, each held for before it is made, and `hedging.py` two of them at a time. Start with `course.py`.

A request makes another attempt only as long as nothing of an answer has reached its client, within its own time, and
never on a model that its caller may not use, outside its zone, or beyond its budgets.
"""
