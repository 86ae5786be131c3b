"""The people who administer an installation: their roles, their keys, and what each role may do.

Read `roles.py` first: it is the whole table of who may do what. `directory.py` keeps people in the database;
`access.py` turns an admin key into the person it speaks for. Nothing here knows HTTP, and an admin key opens no model:
applications have keys of another shape (`governance.identity`).
"""
