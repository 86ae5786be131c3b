"""What requests, chats and events must look like to be translated; only what is taken apart is looked at.

`items.py` is the input that clients send, `chat.py` the chat request that a provider is sent, `events.py` what a
provider answers.
"""
