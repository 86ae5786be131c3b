"""`/admin/api`: what the dashboard and the command line do, for programs. Its OpenAPI is `/admin/api/openapi.json`.

`desk.py` is what all routes share: who asks, and what they work with. Each other file is one resource. A caller shows
an admin key as it would an application key; cookies open nothing here, so no other site can act for who is signed in.
Every act is allowed or refused by the one table in `governance.people.roles`, and written to the audit log.
"""
