"""The kinds of sensitive text, a file for each: `find(text)` yields where they are, as pairs of start and end.

`context.py` reads the words around a number, for kinds whose checksum alone proves too little.
"""
