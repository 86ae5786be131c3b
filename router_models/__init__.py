"""Which model: the cheapest that may answer, and how likely a prompt needs the strong one.

Read `router.py` first: `choose_route` is the whole decision, `pinned` the same checks for a model asked for by name.
`config.py` is the `routes` section of the policy, `errors.py` the ways in which no model is left.

What a prompt needs is learned: `scoring.py` says what a router says, `features.py` what is counted in a prompt
(`cues.py`), `learned.py` is a trained router and `artifact.py` opens it. `learning/` trains it from what `labelled/`
reads, `calibrating/` makes promises of it, `evaluating/` measures it; `weights/` holds the one that comes with the
package. These need numpy, and are imported where they are used.

The package knows no HTTP, no prices and no tenants. Whether a model is allowed, inside the zone and able to
answer reaches it with each `Candidate`, worked out by the gateway; vectors are computed elsewhere as well.
"""
