"""The guardrails as a request meets them: its own text first, and then its answer on the way back.

Read in this order: `guarding.py` (the step: what a request may say, with what is redacted in it), `answers.py` (the
reply that lets no blocked or redacted byte pass), `restoring.py` (the reply that puts back what was redacted, for who
asked), `rewriting.py` (the texts in the chunks of an answer), `bodies.py` (the texts of a request), `meanings.py`
(rules that go by what a text means), `compiling.py` (the rules as the policy has them).
"""
