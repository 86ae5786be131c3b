"""What a client may send.

`chat_body.py` and `embedding_body.py` say what a request must look like, `priced_fields.py` what it must not carry;
`controls.py` reads the headers that steer it, `attribution.py` those that say whose it is.
"""
