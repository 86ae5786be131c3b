"""Equal digests are equal bytes of the same tenant, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.digests import chained

parts = st.lists(st.binary(max_size=4), min_size=1, max_size=5)
salts = st.sampled_from([b"red/bot", b"blue/bot", b""])


@given(salts, parts, salts, parts)
def test_two_prefixes_have_one_digest_just_where_their_bytes_and_their_tenant_are_the_same(
    salt: bytes, ours: list[bytes], other_salt: bytes, others: list[bytes]
) -> None:
    mine, theirs = list(chained(salt, ours)), list(chained(other_salt, others))
    for n, digest in enumerate(mine):
        for m, other in enumerate(theirs):
            same = salt == other_salt and ours[: n + 1] == others[: m + 1]
            assert (digest == other) is same


def test_one_part_does_not_pose_as_two() -> None:
    assert list(chained(b"", [b"ab"])) != list(chained(b"", [b"a", b"b"]))[1:]
    assert next(chained(b"a", [b"b"])) != next(chained(b"ab", [b""]))
