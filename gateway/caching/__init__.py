"""What the caches do beside the path of a request: where they live, what is made anew, learned and forgotten.

Read `caches.py` first: all of them, and what is done again and again. `opening.py` opens the homes that the settings
name; `semantics.py` keeps the semantic cache open that the policy wants, `learned.py` what its features have learned.
`refreshing.py` has answers made anew that have become old. `lessons.py` is what happens after an answer that a feature
of the semantic cache has bought: `comparing.py` is what it asks about two answers, `local_judge.py` who compares them
here, `model_judge.py` a model that does. `advice.py` says what the record means for the policy. `recorder.py` writes
every look-up and reads what other processes wrote; `purging.py` follows the orders to forget. What a request itself
does with the caches is in `gateway.steps.reuse.slot` and `gateway.steps.reuse.meaning`; what they decide is `cache/`'s
to know.
"""
