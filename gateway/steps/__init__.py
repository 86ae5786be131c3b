"""The steps that `gateway/chat.py` and `gateway/embeddings.py` take, in their order.

`admission.py` who asks and what they may do · `guarding/` what requests and answers may say · `budget_steps.py` what
budgets ask of it before they are used up · `shaping.py` the request within its bounds · `reuse/` whether it was
answered before: under its caller's key, word for word, or by meaning · `classes.py` the classes of tokens it may use
· `purchasing.py` price, hold and settle · `relaying.py` its answer on its way · `patience.py` how long that is waited
for · `metering.py` what that has used so far · `brake.py` whether it must stop · `accounts.py` the settlement, and
what logs and metrics say of it.

A step knows what it needs of the engines, and nothing of sockets.
"""
