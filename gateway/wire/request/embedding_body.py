"""What an embeddings request must look like before we act on it.

Spec: the OpenAI API reference, "Create embeddings".
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gateway.wire.body import decode, shaped
from gateway.wire.request.priced_fields import refuse_priced_fields

Text = Annotated[str, Meta(min_length=1)]
Tokens = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=1)]


class EmbeddingFields(msgspec.Struct, frozen=True):
    """The fields of an embeddings request that governance reads."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    input: Text | Annotated[list[Text | int | Tokens], Meta(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    user: Annotated[str, Meta(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


def decode_embedding(raw: bytes) -> tuple[dict[str, Any], EmbeddingFields]:
    """Return the body as it came and the fields we act on.

    Raises:
        BadRequest: with the path of the first field that is wrong.
    """
    body = decode(raw)
    fields = shaped(body, EmbeddingFields)
    refuse_priced_fields(body)
    return body, fields
