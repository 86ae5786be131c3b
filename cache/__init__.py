"""Answers that need not be bought twice.

Read in this order: `canonical.py` (when are two requests the same?), `partition.py` (who shares answers with whom?),
`directives.py` (what did the caller ask for?), `answers.py` (find and put). `stores/` keeps the bytes; `config.py` is
the `cache` section of the policy; `errors.py` what can go wrong. `prefix/` is about prompts that providers keep, which
are no answers of ours.

The package knows no HTTP, no models and no money type: the cost of an answer passes through as integer nano-dollars.
"""
