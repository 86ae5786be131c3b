"""Prompts with what several models made of them: read from files, and kept apart from those a router has learned from.

Read `lines.py` for what a line is, `fingerprints.py` for how a prompt that was seen before is known again. Nothing here
knows how a router learns.
"""
