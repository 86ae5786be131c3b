"""Choosing tokens: logits and each row's parameters to token ids.

Stateless: a row's token depends on its own logits, parameters, history and position, and on nothing else in the batch.
Read `sampler.py` first; each step it takes (`penalties`, `truncate`, `rng`, `logprobs`) is a file of its own.
"""
