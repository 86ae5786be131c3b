"""How often a cache would have served, and how often wrongly, by labelled examples.

Read in this order: `labelled.py` (pairs of questions, as a file holds them), `deciding.py` (each pair through the
decision that a request goes through), `report.py` (rates and the curve over the threshold), `intervals.py` (how sure
a rate is).
"""
