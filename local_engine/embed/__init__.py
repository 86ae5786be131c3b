"""Sentence embeddings: many callers, one model, one thread.

`embedder.py` is the file to read first: how requests share batches and why none waits for another's whole. `minilm.py`
loads and measures the bundled model. Nothing here knows prompts, blocks or HTTP.
"""
