"""What another policy would have made of the traffic that the ledger remembers.

`simulation.py` is the whole of it: requests in order of arrival, held and ended by the real rules. `rulings.py` says
what a policy makes of one kind of request (route, model, price), and `regime.py` how a policy meets a request of the
past: its grant, what it asked for, and who answers. `limits.py` says what requests draw on, and `lanes.py` has the
counters. `calls.py` is one call as it was or would be, `likely.py` what one would have been like that was never made,
`outcomes.py` adds up per team, `unknowns.py` says what cannot be tried, and `recorded.py` reads the ledger and runs it
all.

One principle keeps a replay honest: what was decided under the same rules, on counters that stand as they stood, stays
decided. Only where the new policy differs, or an earlier difference has moved a counter, is a request decided anew. So
the same policy over its own traffic changes nothing, whatever the timing of the past.

The rules are the gateway's own: its grants narrowed by the keys' terms, its draws on calendar and rolling windows and
for each value of a dimension, its budget steps, and its catalogue's choice with tiers and floors.

What the ledger does not know is not guessed at:

- which requests were the same, so `same_request` stops whom it stopped, as long as there is such a limit;
- answers that a wider cache would have spared, and retries that callers would have made;
- which requests named the length of their answer, so a default length is left out, and a lower ceiling shortens only
  the answers that were longer; what a ceiling has cut off does not grow back;
- what was asked for where a budget had moved a call to a cheaper model: the likeliest wish that leads there is taken;
- how many tokens a call held of a limit by the minute: those it used count from its beginning.
"""
