"""What a request's context is made of, and what of it may be left out.

Read `auditing.py` first (the measures of a prompt), then `cutting/trimming.py` (what is cut, in which order).

* `rule.py` is what a policy asks; `reading.py` finds the texts of a chat and whose they are, with `marking.py` for
  what a user has pasted between marks; `repeating.py` finds what is said twice.
* `cutting/` leaves out what is not needed.
* `hours.py` and `tables.py` keep the measures by hour and feature: numbers, never text.

It knows no HTTP, no model and no tokenizer: who counts tokens and who compares meanings is passed in.
"""
