"""The decoder: a model's shape, its weights, and one forward pass over a step.

Knows tensors, positions and slots; knows nothing of requests, queues, text or files.
Read `decoder.py` first (the forward pass), then `runner.py` (how a step plan becomes logits); `reference.py` is the
slow model that everything here must agree with.
"""
