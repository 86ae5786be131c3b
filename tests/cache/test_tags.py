"""What an answer can be purged by."""

import pytest

from cache.errors import BadDirective
from cache.tags import bought_by, own_tags, tags_of


def test_a_caller_has_tags_of_its_own_each_once() -> None:
    assert own_tags(["doc-17", "price list", "doc-17"]) == ("doc-17", "price list")


@pytest.mark.parametrize(
    "tag", ["*", "team:blue", "app:bot", "feature:bot/faq", "model:dear", "key:1", "request:req_1"]
)
def test_no_caller_gives_its_answer_a_tag_that_says_whose_it_is(tag: str) -> None:
    with pytest.raises(BadDirective, match="ours to give"):
        own_tags(["mine", tag])


def test_an_answer_knows_for_which_request_it_was_bought() -> None:
    tags = tags_of(
        ("mine",), team="red", app="bot", feature="request:x", model="request:y", key_id="1", request_id="req_1"
    )
    assert bought_by(tags) == "request:req_1"
    assert bought_by(("mine",)) is None
