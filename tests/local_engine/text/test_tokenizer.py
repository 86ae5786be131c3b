import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.errors import ContextTooLong, InvalidRequest
from local_engine.text.tokenizer import Tokenizer
from tests.support.bundled import open_bundled
from tests.support.tiny_text import TINY_CONTROL, tiny_tokenizer, tiny_vocabulary

TINY = tiny_tokenizer()
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@pytest.fixture(scope="module")
def smollm() -> Tokenizer:
    return Tokenizer(open_bundled().vocabulary)


def decoded(tokenizer: Tokenizer, ids: list[int]) -> str:
    return b"".join(map(tokenizer.token_bytes, ids)).decode()


@given(text=TEXT)
def test_any_text_comes_back_from_its_tokens(text: str) -> None:
    assert decoded(TINY, TINY.encode(text)) == text


@given(text=TEXT)
def test_any_text_comes_back_from_smollms_tokens_but_for_the_bytes_it_lacks(smollm: Tokenizer, text: str) -> None:
    lacking = {chr(code) for code in (0x04, 0x06, 0x13, 0x14, 0x16, 0x1D)}
    expected = "".join("\ufffd" if char in lacking or 0x40000 <= ord(char) < 0xC0000 else char for char in text)
    assert decoded(smollm, smollm.encode(text)) == expected


@given(before=TEXT, after=TEXT, name=st.sampled_from(TINY_CONTROL))
def test_no_text_becomes_a_control_token(smollm: Tokenizer, before: str, after: str, name: str) -> None:
    for tokenizer in (TINY, smollm):
        ids = tokenizer.encode(f"{before}{name}{after}")
        assert not set(ids) & set(tokenizer.control_ids.values())


def test_smollm_gives_the_ids_it_was_trained_with(smollm: Tokenizer) -> None:
    # As Hugging Face's tokenizer of SmolLM2-135M-Instruct encodes it: digits one by one, a space with its word.
    assert smollm.encode("user\nWhat is the capital of France?") == [4093, 198, 1780, 314, 260, 3575, 282, 4649, 47]
    assert len(smollm.encode("2026")) == 4
    assert (smollm.bos_id, smollm.eos_id, smollm.vocab_size) == (1, 2, 49152)
    assert smollm.eos_ids == {0, 2}


def test_a_control_token_is_found_by_name_and_has_no_bytes() -> None:
    assert TINY.control("<|im_end|>") == 2
    assert TINY.token_bytes(2) == b""
    with pytest.raises(KeyError):
        TINY.control("<|nothing|>")


def test_a_character_whose_bytes_the_vocabulary_lacks_becomes_a_replacement() -> None:
    tokenizer = Tokenizer(tiny_vocabulary(missing=b"\xf1"))
    assert decoded(tokenizer, tokenizer.encode("a\U00050000b")) == "a\ufffdb"


@given(text=TEXT)
def test_a_text_that_fits_is_never_refused_for_its_length(smollm: Tokenizer, text: str) -> None:
    for tokenizer in (TINY, smollm):
        tokenizer.require_fit(len(text), len(tokenizer.encode(text)))


def test_a_text_that_cannot_fit_is_refused_with_a_lower_bound(smollm: Tokenizer) -> None:
    assert smollm.longest == 81
    smollm.require_fit(8192 * 81, 8192)
    with pytest.raises(ContextTooLong, match="at least 8193 prompt tokens") as refused:
        smollm.require_fit(8192 * 81 + 1, 8192, "prompt")
    assert (refused.value.prompt_tokens, refused.value.limit, refused.value.param) == (8193, 8192, "prompt")


def test_merges_are_applied() -> None:
    assert TINY.encode("\x01\x02") == [259]
    assert TINY.token_bytes(259) == b"\x01\x02"


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="surrogate"):
        TINY.encode("\ud800")
