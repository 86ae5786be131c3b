"""The caches beside the path of a request: where their answers live, and what is done to them in the background.

`opening.py` opens the home that the settings name; `refreshing.py` has answers made anew that have become old. What a
request itself does with the exact cache is in `gateway.steps.slot`.
"""
