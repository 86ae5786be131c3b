"""Answers that need not be bought twice.

Read in this order: `canonical.py` (when are two requests the same?), `partition.py` (who shares answers with whom?),
`epoch.py` (what else shapes answers?), `directives.py` and `tags.py` (what did the caller ask for?), `answers.py` (find
and put), `flights.py` (of many who ask the same at once, who makes the answer?). `stores/` keeps the bytes. Answers to
questions that mean the same are found by `semantic/`, which is the way into `detecting/`, `embedding/`, `index/`,
`guards/`, `verifying/`, `learning/` and `judging/`; `evaluating/` measures them. `prefix/` is about the caches of
providers. `config.py` is the `cache` section of the policy; `errors.py` what can go wrong.

The package knows no HTTP, no models and no money type: the cost of an answer passes through as integer nano-dollars.
"""
