"""Other ways to say what a chat completion says: one folder for each dialect.

Inside, a request and an answer have one form: the body of OpenAI's Chat Completions, the chunks of its stream, and the
completion that `gateway/wire/fold.py` makes of them. A dialect puts that form into other words and back. Everything
here is pure: objects in, objects out, with ids and time passed in. It knows nothing of HTTP, policy or providers.

A dialect has up to four files of the same names: `asking` reads a client's request, `calling` writes a provider's,
`hearing` reads a provider's stream and `answering` writes a client's. What one side has no word for is carried in a
named extension of the chat form, or refused by name; nothing is lost on the way without a word. `chat.py` takes such
extensions out again for a provider of chats alone; `counts.py` reads counts of tokens, whoever tells them.
"""
