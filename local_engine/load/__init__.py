"""Model files: from bytes on disk to a spec, weights, a vocabulary and a chat template.

Files are hostile until checked: every length, offset and type is tested against the file before it is used, and a file
that fails, or that holds what the decoder would ignore, is refused with `ModelFileInvalid`.
Read `model_file.py` first (what a file gives), then `gguf.py` (the container), then `llama.py` (the architecture).
"""
