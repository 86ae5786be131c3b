"""Other ways to say a chat request and its answer.

Inside, both have one form: the body of OpenAI's Chat Completions, the chunks of its stream, and the completion that
`gateway/wire/fold.py` makes of them. A dialect translates to that form and from it: dicts in, dicts out. It knows no
HTTP, no policy, no clock and no provider's address.

* `responses/` is OpenAI's Responses API, as clients and as providers speak it.
* `completions/` is OpenAI's legacy Completions API, as clients speak it.

A dialect has up to four sides: `asking` reads what a client sends, `answering` writes what it gets; `calling` writes
what a provider gets, `hearing` reads what it sends. What a dialect says and the chat form has no word for travels in
an extension field that the dialect's own map names, or is refused by name; nothing is dropped in silence.
"""
