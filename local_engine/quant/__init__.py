"""How weights are held: as values, as grouped integers, and as matmuls over either.

Knows matrices and the kernels torch offers for them; knows nothing of models, layers or files.
Read `weight.py` first (what a weight is), then `linear.py` (how one is multiplied), then `pack.py` (which is chosen).
"""
