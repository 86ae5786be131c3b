"""The policy: one YAML document that says who may use what, and at what cost.

Read `document.py` first: it is the whole document, composed of the engines' own sections (`governance.policy.sections`,
`cache.config`, `router_models.config`) and of those that only the gateway knows (`models.py`, `reliability.py`,
`safeguards.py`).

Reading takes four steps, and `source.load_policy` is their sum: `positions.py` parses the text and remembers where each
part stood (`syntax.py` words what is no YAML), `environment.py` fills in `${NAME}`, `document.py` checks shapes,
`references.py` checks that names mean something. Whatever is wrong becomes a `problems.Problem` with file, line and
column, and all of them are told at once. `findings/` warns of what can never happen and says which parts are read but
not yet obeyed, `reliability.py` is how long providers are waited for and what is done when one fails, `pricing/` finds
what every model costs, `check.py` sums it up for people, `schema.py` is the JSON Schema for editors, and `starter.yaml`
the policy of an installation that has none.

Two packages ask what another policy would do: `change/` compares two of them and holds the difference against the
ledger, `replay/` runs recorded traffic through one. `history/` says which one governs, governed, or is tried.

The package opens no connection and serves no request.
"""
