"""The steps that spare a call, in the order of how much is known: answers that are there already.

`idempotency.py` this very request was answered before, under its caller's key · `slot.py` the exact cache: the same
request was answered for its sharing group, or is being answered just now · `meaning.py` the semantic cache: a question
that means the same was. What follows beside the requests is in `gateway.caching`.
"""
