"""Credentials of Amazon Web Services: a key that stands in a header, or a signature under each request.

Spec: the Amazon Bedrock user guide, "API keys"; AWS Identity and Access Management, "Signature Version 4".
"""

from collections.abc import Callable

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

Sign = Callable[[str, bytes], dict[str, str]]
"""From the address and the body of a post to the headers that say whose it is."""

_SERVICE = "bedrock"


def key(api_key: str) -> Sign:
    """Return what shows a key of Bedrock's own."""
    return lambda *_: {"authorization": f"Bearer {api_key}"}


def signature(access_key_id: str, secret_access_key: str, session_token: str | None, region: str) -> Sign:
    """Return what signs with an access key; a session token goes with one that is lent for a time."""
    signer = SigV4Auth(Credentials(access_key_id, secret_access_key, session_token), _SERVICE, region)

    def sign(url: str, payload: bytes) -> dict[str, str]:
        request = AWSRequest("POST", url, data=payload)
        signer.add_auth(request)
        return dict(request.headers.items())

    return sign
