"""The bundled model, end to end: file, template, decoder, text."""

import pytest
import torch

from local_engine.load.model_file import ModelFile
from local_engine.model.reference import ReferenceModel
from local_engine.model.runner import PagedRunner
from local_engine.model.weights import ModelWeights
from local_engine.text.chat import ChatTemplate
from local_engine.text.tokenizer import Tokenizer
from local_engine.types import ChunkPlan, Numerics, StepPlan
from tests.support.bundled import open_bundled


@pytest.fixture(scope="module")
def file() -> ModelFile:
    return open_bundled()


@pytest.fixture(scope="module")
def weights(file: ModelFile) -> ModelWeights:
    return file.read_weights()


@pytest.fixture(scope="module", params=[Numerics.FP32, Numerics.Q4])
def runner(request: pytest.FixtureRequest, file: ModelFile, weights: ModelWeights) -> PagedRunner:
    return PagedRunner.build(file.spec, weights, numerics=request.param, num_blocks=16)


@pytest.fixture(scope="module")
def tokenizer(file: ModelFile) -> Tokenizer:
    return Tokenizer(file.vocabulary)


@pytest.fixture(scope="module")
def prompt(file: ModelFile, tokenizer: Tokenizer) -> list[int]:
    question = {"role": "user", "content": "What is the capital of France?"}
    return ChatTemplate(file.chat_template or "", tokenizer).render([question])


def greedy(runner: PagedRunner, prompt: list[int], count: int, chunk: int = 512) -> list[int]:
    """Generate on every second block, so that the cache is read by gathering too."""
    tokens, done, table = list(prompt), 0, tuple(range(0, runner.num_blocks, 2))
    while len(tokens) < len(prompt) + count:
        now = tuple(tokens[done : done + chunk])
        logits = runner.execute(StepPlan((ChunkPlan(0, now, done, table, wants_logits=True),)))
        done += len(now)
        if done == len(tokens):
            tokens.append(int(logits[0].argmax()))
    return tokens[len(prompt) :]


def test_it_knows_the_capital_of_france(runner: PagedRunner, tokenizer: Tokenizer, prompt: list[int]) -> None:
    answer = greedy(runner, prompt, 8)
    assert "Paris" in b"".join(map(tokenizer.token_bytes, answer)).decode()
    assert greedy(runner, prompt, 8, chunk=7) == answer


def test_a_cached_forward_gives_the_references_logits(
    runner: PagedRunner, file: ModelFile, weights: ModelWeights, prompt: list[int]
) -> None:
    expected = ReferenceModel(file.spec, weights).logits(prompt)[-1]
    head, tail = tuple(prompt[:20]), tuple(prompt[20:])
    table = (3, 1, 0)
    runner.execute(StepPlan((ChunkPlan(0, head, 0, table, wants_logits=False),)))
    (got,) = runner.execute(StepPlan((ChunkPlan(0, tail, 20, table, wants_logits=True),)))
    if runner.storage.dtype == torch.float32:
        torch.testing.assert_close(got.double(), expected, atol=1e-3, rtol=0)
    else:
        likely = expected.topk(20).indices
        off = got.double()[likely] - expected[likely]
        # A shift of all logits changes nothing; what is left is the rounding of bf16.
        assert (off - off.mean()).square().mean().sqrt() < 0.1
