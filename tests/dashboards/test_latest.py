"""The cache of one of the latest requests, in words."""

import pytest

from dashboards.figures import NOTHING
from dashboards.latest import line
from tests.support.requests import NOON
from tests.support.spend_reports import request_row


@pytest.mark.parametrize(
    ("cache", "shown", "tone"),
    [
        ("miss", "miss", ""),
        ("exact", "exact", "good"),
        ("semantic;similarity=0.97", "semantic 0.97", "good"),
        ("", NOTHING, ""),
    ],
)
def test_a_hit_is_told_from_a_miss(cache: str, shown: str, tone: str) -> None:
    told = line(request_row(cache=cache), NOON)
    assert (told.cache, told.cache_tone) == (shown, tone)
