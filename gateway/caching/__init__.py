"""What the caches do beside the path of a request: judge new answers, learn from them, and forget as ordered.

`lessons.py` is the file to read first: what happens after an answer that a feature of the semantic cache has bought.
`comparing.py` is whom it asks whether two answers agree, `model_judge.py` a model that says so. `recorder.py` writes
down every look-up and reads what other processes wrote; `purging.py` follows the orders to forget. `opening.py` opens
the homes that the settings and the policy name. What they decide is `cache/`'s to know.
"""
