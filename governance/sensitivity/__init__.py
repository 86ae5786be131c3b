"""Sensitive text: what of a request is a secret, or says who somebody is.

`detecting.py` leads: `detect` finds the kinds that a policy names, in a text and in whatever is written in it in other
letters (`views.py`: escapes, entities, base64, wide digits), and tells where. `kinds/` has one file for each kind.
`texts.py` yields every text of a request's body, with its place, and names what nobody can read.

It knows no policy and no zone: what a finding means is decided elsewhere. Texts are never kept, logged or raised.
"""

from governance.sensitivity.detecting import detect, redacted
from governance.sensitivity.finding import KINDS, Finding, Kind
from governance.sensitivity.texts import texts_of, unread_of

__all__ = ["KINDS", "Finding", "Kind", "detect", "redacted", "texts_of", "unread_of"]
