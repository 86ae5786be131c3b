import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.directives import MAX_NAMESPACE, Directives, parse_directives
from cache.errors import BadDirective


@pytest.mark.parametrize(
    ("header", "field", "meant"),
    [
        (None, None, Directives()),
        ("", None, Directives()),
        ("no-cache", None, Directives(read=False)),
        ("No-Store", None, Directives(write=False)),
        ("no-cache, no-store", None, Directives(read=False, write=False)),
        ("max-age=60", None, Directives(max_age=60)),
        ('max-age="60"', None, Directives(max_age=60)),
        ("max-age=0", None, Directives(max_age=0)),
        ("max-age=60, max-age=30", None, Directives(max_age=30)),
        ("max-age=99999999999999999999", None, Directives(max_age=999_999_999_999)),
        ("no-transform, only-if-cached, x=1,,", None, Directives()),
        (None, {}, Directives()),
        (None, {"no-cache": True}, Directives(read=False)),
        (None, {"no-store": True, "ttl": 5}, Directives(write=False, ttl=5)),
        (None, {"namespace": "eu", "ttl": 60}, Directives(ttl=60, namespace="eu")),
        ("max-age=60", {"max-age": 90}, Directives(max_age=60)),
        ("max-age=60", {"max-age": 30, "no-cache": False}, Directives(max_age=30)),
        ("no-cache", {"no-cache": False}, Directives(read=False)),
    ],
)
def test_the_tighter_of_header_and_body_holds(header: str | None, field: object, meant: Directives) -> None:
    assert parse_directives(header, field) == meant


@pytest.mark.parametrize(
    ("header", "field", "source", "directive"),
    [
        ("max-age", None, "Cache-Control", "max-age"),
        ("max-age=-1", None, "Cache-Control", "max-age"),
        ("max-age=1.5", None, "Cache-Control", "max-age"),
        ("max-age=²", None, "Cache-Control", "max-age"),
        (None, True, "cache", "its value"),
        (None, [], "cache", "its value"),
        (None, {"no_cache": True}, "cache", "no_cache"),
        (None, {"no-cache": 1}, "cache", "no-cache"),
        (None, {"ttl": -1}, "cache", "ttl"),
        (None, {"ttl": True}, "cache", "ttl"),
        (None, {"ttl": 1.5}, "cache", "ttl"),
        (None, {"ttl": "60"}, "cache", "ttl"),
        (None, {"namespace": ""}, "cache", "namespace"),
        (None, {"namespace": "a\nb"}, "cache", "namespace"),
        (None, {"namespace": "x" * (MAX_NAMESPACE + 1)}, "cache", "namespace"),
    ],
)
def test_nonsense_is_refused_with_its_place(header: str | None, field: object, source: str, directive: str) -> None:
    with pytest.raises(BadDirective) as refusal:
        parse_directives(header, field)
    assert (refusal.value.source, refusal.value.directive) == (source, directive)


@given(st.text(max_size=40).filter(lambda header: "max-age" not in header.lower()))
def test_a_header_that_says_nothing_of_an_age_is_never_refused(header: str) -> None:
    assert parse_directives(header).max_age is None


@given(st.integers(min_value=0), st.integers(min_value=1), st.booleans())
def test_a_caller_can_only_shorten_a_lifetime(ttl: int, policy_ttl: int, write: bool) -> None:
    assert Directives(write=write, ttl=ttl).lifetime(policy_ttl) == (min(ttl, policy_ttl) if write else 0)
    assert Directives(write=write).lifetime(policy_ttl) == (policy_ttl if write else 0)
