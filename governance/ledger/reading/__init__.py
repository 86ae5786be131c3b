"""Reading the ledger back: as spend, as single requests, and as what counters and forecasts must know.

`spans.py` adds up any stretches of time, `reports.py` and `reports_daily.py` make reports of them; `spending.py` tells
what a limit's scope has spent, `history.py` remembers what each past day cost, and `outlooks.py` tells where budgets
stand and will end. `prefixes.py` finds what providers' caches were written with and nobody read. `traffic.py` gives the
recorded requests in the order of their arrival, for a policy to be tried on them; `endings.py` follows those that end,
for whoever watches. Nothing here writes. Read `spans.py` first.
"""
