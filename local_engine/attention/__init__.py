"""Attention over paged keys and values: a plan once per step, then one call per layer.

Knows queries, slots and positions; knows nothing of weights or of who owns a block.
Read `base.py` first (what a step looks like), then `reference.py` (what every backend must compute), then `sdpa.py`.
"""
