"""Which answers say the same, as far as a judge who errs now and then can tell.

`comparing.py` chooses what a fresh answer is compared with, `groups.py` makes groups of same answers out of the
verdicts, and `judging.py` measures how often the verdicts are false. It knows fingerprints and verdicts, not answers.
"""
