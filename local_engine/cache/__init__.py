"""Where keys and values live, and who owns which block of them.

`manager.py` is the only owner of block ids and the file to read first; it composes `pool.py` (the free list) and
`radix.py` (prefixes that may serve again). `storage.py` holds the tensors and knows slots only. Nothing here knows
about scheduling or the model.
"""
