"""How often a cache would have served, and how often wrongly, by labelled examples and by recorded streams.

Pairs, in this order: `labelled.py` (pairs of questions, as a file holds them), `deciding.py` (each pair through the
decision that a request goes through), `report.py` (rates and the curve over the threshold).

Streams: `lines.py` (what is replayed), `streams.py` (many caches beside each other over one stream, so that every
similarity is computed once), `contenders.py` (the learned cache, and the fixed thresholds it is held against),
`guarding.py` (guards over a stream) and `tally.py` (what is counted). `recorded.py` asks what another bound would have
done to look-ups on record. Pairs and streams are files of JSON Lines (`jsonl.py`).

It knows no HTTP and no policy. It needs the `semantic` extra, and is imported where it is used.
"""
