"""What a semantic cache would have done: recorded or labelled questions put through the decision as it would run.

Read `lines.py` (what is replayed), then `streams.py` (the replay: many caches beside each other over one stream, so
that every similarity is computed once), `contenders.py` (the learned cache, and the fixed thresholds it is held
against) and `shares.py` (what is counted, with its confidence interval).

It knows no HTTP and no policy. It needs the `semantic` extra, and is imported where it is used.
"""
