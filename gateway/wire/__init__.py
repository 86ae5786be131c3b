"""The wire: bytes to requests, facts to replies.

`connection.py` bounds what a client may make us hold; `body.py` decodes any JSON body and `request/` says what one must
look like and what its headers mean; `sse.py` splits and joins event streams, `jsonl.py` lines of JSON; `fold.py` makes
one completion of many chunks and `unfold.py` the way back; `reply.py` writes an answer, `keep_alive.py` fills its
silences and `departure.py` learns that nobody waits for it; `headers.py` renders what a reply says about itself;
`errors.py` is the one table from exceptions to HTTP.

Nothing here decides anything or knows a store, a price book or a provider's address.
"""
