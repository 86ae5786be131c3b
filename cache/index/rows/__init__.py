"""What an index in memory is made of.

Read in this order: `arena.py` (the rows of all partitions), `quantised.py` (a vector in a byte a component),
`partitions.py` (whose rows they are), `searching.py` (the nearest rows, and why a search can be trusted while others
write), `greedy_dual.py` (who leaves when it is full), `inverted_file.py` (faiss, for a partition that has grown) and
`upkeep.py` (sorting off the event loop). `sharing.py` lets searches of a file go on together.

It knows no files and no protocol.
"""
