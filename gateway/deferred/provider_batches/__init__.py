"""Lines that go through a provider's own batch API, at its discount.

`carrying.py` stands in for the provider: to the pipeline it is one more upstream, whose answer takes up to a day.
`shipping.py` hands many calls in as one batch of the provider and asks after it. What is on its way, and how far, is in
the database (`governance/deferred/parcels.py`); the words of each provider are in `gateway/providers/batching/`.
"""
