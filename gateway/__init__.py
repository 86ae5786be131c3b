"""The HTTP edge and the composition: one base URL in front of every model.

Read `chat.py` first: it is the path of one request, top to bottom, in the order of governance. `embeddings.py` is the
same for vectors, `counts.py` for a count of tokens.

* `steps/` are what that path is made of, one decision each.
* `prefix/` uses the providers' own caches of prompts where that pays, and keeps conversations where they are cached.
* `attempts/` is what is done when a provider fails.
* `wire/` turns bytes into requests and facts into replies; it decides nothing.
* `dialects/` say a chat in the words of other APIs and back; they are pure.
* `speech/` reads a request in the dialect of its client, and says the answer in it.
* `endpoints/` are thin: parse, call, render.
* `providers/` speak to upstream models; nothing else opens a connection outwards.
* `counting/` knows how many tokens a prompt has before its provider says so, or how many it may have.
* `policy/` is the YAML document that composes the engines' own sections.
* `importing/` makes a policy of another gateway's config.
* `governing/` is what the policy in force makes of this process, and how another one takes its place.
* `deferred/` runs what nobody waits for: batches of requests, and single ones that a budget or a caller lets wait.
* `catalogue.py` is the policy's models made callable; `services.py` opens everything else.
* `server.py` serves, as one process or, with `workers.py`, as several; `supervision/` starts the engine beside it.
* `alerting/` tells the receivers that the policy names when a budget's step is reached.
* `operations/` watches and reports; `cli/` is the `sluice` command.

What it does not know: how money is counted (`governance`), what makes two requests the same (`cache`), which model
is good enough (`router_models`), how a token is made (`local_engine`, another process, spoken to over HTTP).
"""

__version__ = "0.1.0"
