"""The steps that `gateway/chat.py` and `gateway/embeddings.py` take, in their order.

`admission.py` who asks and what they may do · `budget_steps.py` what budgets ask of a request before they are used up ·
`shaping.py` the request within its bounds · `slot.py` its place in the cache · `estimate.py` tokens before they are
counted · `purchasing.py` price, hold and settle · `carriers.py` another way for a call than at once · `metering.py`
what an answer has used so far · `brake.py` whether it must stop · `accounts.py` the settlement, and what logs and
metrics say of it.

A step knows what it needs of the engines, and nothing of sockets.
"""
