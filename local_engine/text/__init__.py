"""Text in and out: messages to token ids, token bytes to text that stops where it should.

Knows vocabularies, templates and stop strings; knows nothing of tensors, requests or files.
Read `chat.py` first (how user text is kept from becoming a control token), then `stream.py` (text as it is generated).
"""
