"""Keys: shape, secrecy, and who may come in."""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import Unauthenticated
from governance.identity import Caller, KeyRecord, Keyring, Minted, mint, public_id_of

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def record(minted: Minted, revision: int = 1) -> KeyRecord:
    caller = Caller(minted.public_id, "support", "support-bot")
    return KeyRecord(caller, revision, created_at=NOW, secret_hash=minted.secret_hash)


def ring(*records: KeyRecord) -> Keyring:
    keyring = Keyring()
    keyring.learn(records)
    return keyring


def refusal(keyring: Keyring, key: str, now: datetime = NOW) -> str:
    with pytest.raises(Unauthenticated) as refused:
        keyring.authenticate(key, now)
    return refused.value.reason


def test_a_key_has_the_shape_of_the_contract() -> None:
    minted = mint(secrets.token_bytes)
    prefix, product, public_id, secret = minted.key.split("-")
    assert (prefix, product, public_id) == ("sk", "sluice", minted.public_id)
    assert len(secret) == 52


@given(st.binary(min_size=42, max_size=42))
def test_every_minted_key_authenticates(entropy: bytes) -> None:
    minted = mint(lambda count: entropy[:count] if count == 10 else entropy[10:])
    assert ring(record(minted)).authenticate(minted.key, NOW).key_id == minted.public_id


def test_no_secret_is_in_a_repr() -> None:
    minted = mint(secrets.token_bytes)
    secret = minted.key.rsplit("-", 1)[1]
    shown = f"{minted!r} {record(minted)!r} {ring(record(minted))!r}"
    assert secret not in shown
    assert minted.secret_hash.hex() not in shown
    assert repr(minted.secret_hash) not in shown


def test_no_key_is_told_how_to_send_one() -> None:
    with pytest.raises(Unauthenticated, match=r"no key was given: send `Authorization: Bearer sk-sluice-…`") as refused:
        ring().authenticate("", NOW)
    assert refused.value.reason == "missing"


def test_the_public_id_is_cut_out_of_a_whole_key() -> None:
    minted = mint(secrets.token_bytes)
    assert public_id_of(minted.key) == minted.public_id
    assert public_id_of(minted.public_id) == minted.public_id
    secret = minted.key.rpartition("-")[2]
    for other in (secret, minted.key[:-1], minted.key.upper(), "", minted.key + " "):
        assert public_id_of(other) is None


@given(st.text(min_size=1))
def test_any_other_text_is_malformed(text: str) -> None:
    assert refusal(ring(), text) == "malformed"


def test_a_key_with_something_after_it_is_malformed() -> None:
    minted = mint(secrets.token_bytes)
    for key in (minted.key + "\n", " " + minted.key, minted.key.upper(), minted.key[:-1]):
        assert refusal(ring(record(minted)), key) == "malformed"


def test_a_wrong_secret_reads_like_an_unknown_key_whatever_the_state() -> None:
    minted = mint(secrets.token_bytes)
    wrong = mint(secrets.token_bytes, minted.public_id).key
    revoked = replace(record(minted), revoked_at=NOW)
    assert refusal(ring(), wrong) == "unknown"
    assert refusal(ring(record(minted)), wrong) == "unknown"
    assert refusal(ring(revoked), wrong) == "unknown"


def test_a_revoked_key_is_refused() -> None:
    minted = mint(secrets.token_bytes)
    assert refusal(ring(replace(record(minted), revoked_at=NOW)), minted.key) == "revoked"


def test_a_key_is_good_until_the_instant_it_expires() -> None:
    minted = mint(secrets.token_bytes)
    keyring = ring(replace(record(minted), expires_at=LATER))
    assert keyring.authenticate(minted.key, LATER - timedelta.resolution)
    assert refusal(keyring, minted.key, LATER) == "expired"


def test_an_old_secret_is_good_until_its_overlap_ends() -> None:
    old = mint(secrets.token_bytes)
    new = mint(secrets.token_bytes, old.public_id)
    keyring = ring(replace(record(new), previous_hash=old.secret_hash, previous_until=LATER))
    assert keyring.authenticate(new.key, NOW) == keyring.authenticate(old.key, NOW)
    assert refusal(keyring, old.key, LATER) == "unknown"
    assert keyring.authenticate(new.key, LATER)


def test_a_keyring_remembers_the_newest_change() -> None:
    keyring = ring(record(mint(secrets.token_bytes), 3), record(mint(secrets.token_bytes), 2))
    assert (keyring.revision, len(keyring)) == (3, 2)
