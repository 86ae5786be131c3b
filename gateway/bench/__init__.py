"""What Sluice costs, measured on the machine at hand: the work of `sluice bench`.

`rounds.py` measures: it repeats a piece of work in rounds and says what one takes. `governance.py` is the work, the
whole governance of one request, under the policies in `policies/`. `trips.py` counts the questions put to a store.
`embedding.py` times the embedding of the semantic cache.
"""
