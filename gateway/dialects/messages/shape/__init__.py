"""What a body must look like before it is put into other words: `messages_body.py` and `chat_body.py`.

What the translation leaves where it is may hold any field. Where it builds an object anew, a field that it does not
know would be lost, so that is refused; so is a block or a part of a type that is not listed. Refusals name the path.
"""
