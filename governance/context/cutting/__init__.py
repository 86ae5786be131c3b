"""Leave out of a prompt what is said twice, what only fills, and what has least to do with the question.

Read `trimming.py` first. `pieces.py` divides a text into what may be left out by itself, `squeezing.py` takes out what
only fills, `ranking.py` says how much a piece has to do with the question, `edges.py` where a reader sees it best, and
`rendering.py` puts together what is kept.
"""
