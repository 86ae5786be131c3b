"""What another policy would have made of the traffic that the ledger remembers.

`simulation.py` is the whole of it: requests in order of arrival, held and ended on real counters by the real rules.
`rulings.py` says what a policy makes of one kind of request (route, model, price), `lanes.py` which counters it draws
on, `likely.py` what a call would have been like that was never made, `outcomes.py` adds up per team, and `recorded.py`
reads the ledger and runs it all.

One principle keeps a replay honest: what was decided under the same rules, on counters that stand as they stood, stays
decided. Only where the new policy differs, or an earlier difference has moved a counter, is a request decided anew. So
the same policy over its own traffic changes nothing, whatever the timing of the past.

What the ledger does not know is not guessed at: answers that a wider cache would have spared, and retries that callers
would have made.
"""
