"""Vectors by a provider that speaks Gemini, asked for and told as OpenAI's API does."""

from base64 import b64decode
from struct import unpack
from typing import Any

import pytest

from gateway.dialects.gemini.embedding import MOST_INPUTS, to_chat_embeddings, to_gemini_embeddings
from gateway.errors import BadRequest

ASKED = {"model": "vectors"}


def asked(**fields: Any) -> dict[str, Any]:
    return to_gemini_embeddings({"model": "gemini-embedding-001", "input": "Hi"} | fields)


def test_each_text_is_a_request_of_its_own() -> None:
    # The Gemini API reference, "Embeddings", the example of `batchEmbedContents`.
    texts = ["What is the meaning of life?", "How do I bake a cake?"]

    assert asked(input=texts, dimensions=10, encoding_format="float", user="u")["requests"] == [
        {
            "model": "models/gemini-embedding-001",
            "outputDimensionality": 10,
            "content": {"parts": [{"text": text}]},
        }
        for text in texts
    ]


def test_one_text_is_one_request_and_a_full_name_stays_one() -> None:
    assert asked(model="models/gemini-embedding-001") == asked()
    assert len(asked()["requests"]) == 1


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": [1, 2]}, "input"),
        ({"input": [[1, 2]]}, "input"),
        ({"input": ["x"] * (MOST_INPUTS + 1)}, "input"),
        ({"input_type": "query"}, "input_type"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        asked(**fields)
    assert refused.value.param == param


def test_vectors_are_listed_in_order_with_the_tokens_read() -> None:
    # Pull request 7295 of the repository maximhq/bifrost: the usage of gemini-embedding-2.
    usage = {"promptTokenCount": 5, "promptTokenDetails": [{"modality": "TEXT", "tokenCount": 5}]}
    reply = {"embeddings": [{"values": [0.1, 0.2]}, {"values": [0.3, 0.4]}], "usageMetadata": usage}

    assert to_chat_embeddings(reply, ASKED) == {
        "object": "list",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [0.1, 0.2]},
            {"object": "embedding", "index": 1, "embedding": [0.3, 0.4]},
        ],
        "model": "vectors",
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
    }


def test_where_no_tokens_are_told_none_are_made_up() -> None:
    assert "usage" not in to_chat_embeddings({"embeddings": [{"values": [0.1]}]}, ASKED)


def test_vectors_are_written_in_base64_for_a_client_that_wants_them_so() -> None:
    told = to_chat_embeddings({"embeddings": [{"values": [0.5, -2]}]}, ASKED | {"encoding_format": "base64"})

    assert unpack("<2f", b64decode(told["data"][0]["embedding"])) == (0.5, -2.0)


@pytest.mark.parametrize(
    "reply",
    [{}, {"embeddings": None}, {"embeddings": [{}]}, {"embeddings": ["x"]}, {"embeddings": [{"values": ["x"]}]}],
)
def test_a_reply_without_vectors_says_nothing(reply: dict[str, Any]) -> None:
    assert to_chat_embeddings(reply, ASKED) == {}
