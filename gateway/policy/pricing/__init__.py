"""Prices in a policy: what may be written of them, and what a model of a policy costs.

`sections.py` is the shape, `tariffs.py` finds the tariff of every model, `listing.py` lays out what holds now,
`checking.py` holds it against the price book, and `editing.py` writes the price of one model into a policy's text.
"""
