"""Running it: the home folder and its keys, logs, metrics, and what `sluice doctor` looks at.

Nothing here decides about a request. `home.py` first: it is what a first start leaves behind.
"""
