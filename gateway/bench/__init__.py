"""What Sluice costs, measured on the machine at hand: the work of `sluice bench`.

`rounds.py` measures: it repeats a piece of work in rounds and says what one takes. `governance.py` is the work, the
whole governance of one request, under the policies in `policies/`. `trips.py` counts the questions put to a store.
`index.py` fills the index of questions and searches it, with vectors from `vectors.py`.
`embedding.py` times the embedding of the semantic cache.
`cache.py` measures a hit of the exact cache, which `hits.py` makes.
`meaning.py` measures a hit of the semantic cache and its parts.
"""
