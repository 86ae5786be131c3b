"""From the config of a LiteLLM proxy to a policy, and the list of what did not carry over.

Read `litellm.py` first: it is the whole way, top to bottom. Nothing here opens a connection or reads the environment:
the same file always gives the same policy.

* `source.py` is the config as it was read; it knows which parts of it have been used.
* `secrets.py` turns keys into names of variables: no secret is ever copied.
* `hosts.py` is the table of LiteLLM's providers, and what each one is here. A provider is added by one line.
* `deployments.py` reads the models, `routes.py` the fallbacks and aliases between them.
* `budgets.py` reads what limits, `safeguards.py` what watches and what helps when a provider fails.
* `advice.py` is the table of what to do about everything else.
* `draft.py` is a policy in the making, `tiers.py` orders its models by price, and `writing.py` writes it down.
"""
