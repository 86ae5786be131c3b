"""all-MiniLM-L6-v2, 384 dimensions, in this process through onnxruntime, without torch.

`embedding.py` is the embedding, `model.py` tokens and a run of the model. The graph is written here (`graph.py`, in the
format of `wire.py`) and reads the published weights where they lie (`weights.py`), so nothing is converted,
downloaded or stored.
"""
