"""The administrator's view: server-rendered pages with our own charts, under `/admin`.

Read `app.py` first: it is the list of routes. `spend_page.py` turns reports into what a template shows, with
`tiles.py`, `latest.py` and `charts.py` for its parts, and `deferred_page.py` batches; `figures.py` words numbers,
`ranges.py` cuts time. `sign_in.py` is the door, `security.py` what a browser may do, `pages.py` the templates and
assets.

Every state of a page is a URL, no page needs a script, and nothing is kept between two requests, so any process can
answer any of them. It knows neither SQL nor policies nor prompts: it asks `reports.py` and shows what it is told.
"""
