"""What the caches do beside the path of a request: where they live, what is made anew, learned and forgotten.

`opening.py` opens the homes that the settings and the policy name; `refreshing.py` has answers made anew that have
become old. `lessons.py` is what happens after an answer that a feature of the semantic cache has bought: `comparing.py`
is whom it asks whether two answers agree, `model_judge.py` a model that says so. `recorder.py` writes down every
look-up and reads what other processes wrote; `purging.py` follows the orders to forget. What a request itself does with
the caches is in `gateway.steps.reuse.slot` and `gateway.steps.reuse.meaning`; what they decide is `cache/`'s to know.
"""
