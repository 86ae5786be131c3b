"""The providers' own caches of prompts, used where it pays: `cache.prefix` of the policy, as the gateway obeys it.

`prefixing.py` is what a request meets: where its prompt should go, and what is marked in it. `outlines.py` finds in a
chat where its prefixes end and which marks are there already, `marks.py` puts others; both know the chat form alone,
since each dialect says those marks in its own words. `families.py` knows what each kind of provider keeps. What pays,
and what comes again, is learnt in `cache/prefix`. Read `prefixing.py` first.

A client's own marks count, and are never moved or removed; with `provider_breakpoints: off` a request goes out as it
came.
"""
