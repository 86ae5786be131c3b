"""The dialect of Amazon Bedrock's Converse API, which only providers speak: requests, streams and errors.

Converse says what Messages says in other words, so this package knows only the words: the blocks of a turn and the
events of a stream go through `gateway/dialects/messages/`, whose extensions of the chat form hold here too.

`calling.py` writes a request: `blocks.py` its contents, `documents.py` what there is to read in them, `tools.py` what
may be called. `frames.py` cuts the bytes of a stream into events, `hearing.py` reads those as chunks of a chat, with
`usage.py`, `stops.py` and `citations.py` for their parts. `failures.py` reads errors. `embedding.py` is for models
that make vectors, with which nobody converses. Only `frames.py` needs botocore.

On a request
    `cache_control` of a part, a tool, a call, a result or of the whole is a `cachePoint` after it.
    `thinking`, `top_k` and a few more go to the model as `additionalModelRequestFields`; others are refused.
On a chunk
    `service_tier`: the tier that has served the answer.
    `native_finish_reason`: where `finish_reason` does not tell it. `error` is the finish of an answer that the model
    has begun and not put into words that Bedrock could read.
"""
