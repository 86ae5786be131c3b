"""Vectors of Bedrock's models, asked for and listed as OpenAI's API does.

The bodies are those of the Amazon Bedrock user guide, "Amazon Titan Text Embeddings models" and "Cohere Embed v3".
"""

import base64
import struct
from typing import Any

import pytest

from gateway.dialects.converse.embedding import to_embeddings, to_invocation
from gateway.errors import BadRequest

TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-multilingual-v3"


def test_titan_is_given_one_text() -> None:
    asked = {"model": TITAN, "input": "Hi", "encoding_format": "float", "user": "u"}

    assert to_invocation(asked) == {"inputText": "Hi"}
    assert to_invocation(asked | {"input": ["Hi"], "dimensions": 256}) == {"inputText": "Hi", "dimensions": 256}


def test_cohere_is_given_texts_and_what_they_are_for() -> None:
    asked = {"model": f"us.{COHERE}", "input": ["a", "b"]}

    told = {"texts": ["a", "b"], "input_type": "search_document", "embedding_types": ["float"]}
    assert to_invocation(asked) == told
    query = asked | {"input_type": "search_query", "dimensions": 512}
    assert to_invocation(query) == told | {"input_type": "search_query", "output_dimension": 512}


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"model": TITAN, "input": ["a", "b"]}, "input"),
        ({"model": TITAN, "input": "a", "input_type": "search_query"}, "input_type"),
        ({"model": TITAN, "input": [1, 2]}, "input"),
        ({"model": COHERE, "input": [[1], [2]]}, "input"),
        ({"model": COHERE, "input": "a", "truncate": "END"}, "truncate"),
        ({"model": "anthropic.claude-3-haiku", "input": "a"}, "model"),
    ],
)
def test_what_a_model_has_no_word_for_is_refused_by_name(asked: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        to_invocation(asked)

    assert refused.value.param == param


def test_a_vector_of_titan_is_listed_with_what_it_cost() -> None:
    reply = {"embedding": [0.5, -1], "inputTextTokenCount": 3, "embeddingsByType": {"float": [0.5, -1]}}

    assert to_embeddings(reply, {"model": TITAN}, "") == {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1]}],
        "model": TITAN,
        "usage": {"prompt_tokens": 3, "total_tokens": 3},
    }


@pytest.mark.parametrize("told", [[[0.5], [1.0]], {"float": [[0.5], [1.0]]}])
def test_vectors_of_cohere_are_listed_in_either_form(told: object) -> None:
    listed = to_embeddings({"embeddings": told, "id": "1", "texts": ["a", "b"]}, {"model": COHERE}, "12")

    assert [entry["embedding"] for entry in listed["data"]] == [[0.5], [1.0]]
    assert listed["usage"] == {"prompt_tokens": 12, "total_tokens": 12}


@pytest.mark.parametrize("header", ["", "-1", "many", "²"])
def test_a_count_that_is_not_told_is_not_taken_for_none(header: str) -> None:
    assert "usage" not in to_embeddings({"embeddings": [[0.5]]}, {"model": COHERE}, header)


def test_a_client_that_wants_its_vectors_packed_gets_them_so() -> None:
    listed = to_embeddings({"embedding": [0.5, -1]}, {"model": TITAN, "encoding_format": "base64"}, "")

    assert struct.unpack("<2f", base64.b64decode(listed["data"][0]["embedding"])) == (0.5, -1)


@pytest.mark.parametrize("reply", [{}, {"embeddings": None}, {"embeddings": {"int8": [[1]]}}, {"embeddings": [1]}])
def test_a_reply_without_vectors_lists_nothing(reply: dict[str, Any]) -> None:
    assert to_embeddings(reply, {"model": COHERE}, "3") == {}
