"""The cheapest model that may answer: turns a route of the policy and what is known of its models into one choice.

Read `router.py` first: `choose_route` is the whole decision, `pinned` the same checks for a model asked for by name.
`config.py` is the `routes` section of the policy, `errors.py` the ways in which no model is left.

The package knows no HTTP, no prices and no tenants. Whether a model is allowed, inside the zone and able to
answer reaches it with each `Candidate`, worked out by the gateway.
"""
