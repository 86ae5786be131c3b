"""`sluice policy`: `texts.py` has the verbs that read policies, `history.py` those that put one in force."""
