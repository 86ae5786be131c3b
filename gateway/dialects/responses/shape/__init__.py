"""What requests, chats and events must look like to be translated; only what is taken apart is looked at.

`items.py` is the input that clients send, `chat.py` the chat request that a provider is to be sent; `events.py` is what
such a provider answers, `chunks.py` what any provider answers and our clients are to be told.
"""
