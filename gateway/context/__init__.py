"""The context of a request, measured and cut as its policy says.

Read `contexts.py` first: one request from its measures to its accounts. `meanings.py` compares texts by the embedding
there is, `spared.py` is what the accounts need to know of a cut, `measures.py` adds the audits up by hour and feature.
What is measured and what is cut is decided in `governance/context`, which knows no HTTP and no model.
"""
