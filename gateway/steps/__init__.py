"""The steps that `gateway/chat.py` and `gateway/embeddings.py` take, in their order.

`admission.py` who asks and what they may do · `budget_steps.py` what budgets ask of a request before they are used up ·
`shaping.py` the request within its bounds · `slot.py` its place in the cache · `purchasing.py` price, hold and settle ·
`metering.py` what an answer has used so far · `brake.py` whether it must stop · `accounts.py` the settlement, and what
logs and metrics say of it.

A step knows what it needs of the engines, and nothing of sockets.
"""
