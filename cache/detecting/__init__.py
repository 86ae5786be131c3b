"""Questions that no stored answer can serve, however alike they look.

Read in this order: `unfit.py` (the verdict and the order of the tests), `reading.py` (what of a text is the asker's own
question), then one file per reason: `anaphoric.py` (it does not stand alone), `identifying.py` and `personal.py` (it is
about one person), `acting.py` (it asks for a deed), `varied.py` (it wants another answer each time),
`time_sensitive.py` (its answer ages). `signs.py` reads `phrases/`, where most reasons are written down.

The package knows nothing of stores, embeddings or requests: it reads one text, the last thing the user said, in
English first and in the commonest words of German, French and Spanish.
"""
