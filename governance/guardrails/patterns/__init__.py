"""Patterns of a policy over texts that come in pieces.

Read in this order: `scanning.py` (where a pattern matches, and how much of a text that goes on is still open),
`automaton.py` (which beginnings could still become a match), `characters.py` (what one step of a pattern may read).

A pattern reads at most `LONGEST_TEXT` characters from where it begins, whatever comes after them: so what it finds in a
text does not depend on the pieces that the text came in, nor can a long text make it slow.
"""
