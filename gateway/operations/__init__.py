"""Running it: the home folder and its secrets, logs, metrics, and the rounds of work beside the requests.

`ledger.py` opens the ledger for the command line, `doctor.py` is what `sluice doctor` looks at.

Nothing here decides about a request. `home.py` first: it is what a first start leaves behind.
"""
