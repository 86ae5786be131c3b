"""What the graph rounds, and that every processor comes to the same sums."""

import numpy as np
import onnxruntime

from cache.embedding.minilm.graph import LARGEST, build_graph, quantise
from cache.embedding.minilm.weights import read_weights
from cache.embedding.minilm.wire import INT8, INT32, UINT8, Node, Tensor, write_model
from cache.embedding.opening import bundled_folder

CHANCE = np.random.default_rng(0)


def test_two_products_of_bytes_fit_in_sixteen_bits_for_all_weights() -> None:
    folder = bundled_folder()
    assert folder is not None
    weights = build_graph(read_weights(folder / "model.safetensors")).weights.values()
    whole = [weight for weight in weights if weight.dtype == np.int8]
    assert len(whole) == 18
    largest = max(int(np.abs(weight.astype(np.int32)).max()) for weight in whole)
    assert largest == LARGEST
    assert 2 * np.iinfo(np.uint8).max * largest <= np.iinfo(np.int16).max


def test_what_is_rounded_is_off_by_half_a_step_at_most() -> None:
    weight = CHANCE.normal(size=(8, 32)).astype(np.float32) * np.arange(8, dtype=np.float32)[:, None]
    whole, steps = quantise(weight)
    assert (np.abs(whole * steps[:, None] - weight).max(axis=1) <= steps * 0.5001).all()
    assert not whole[0].any()


def test_sums_of_the_largest_products_are_exact() -> None:
    states = CHANCE.choice([0, 1, 128, 254, 255], size=(5, 384)).astype(np.uint8)
    weights = CHANCE.choice([-LARGEST, -LARGEST + 1, 0, LARGEST], size=(384, 7)).astype(np.int8)
    states[0], weights[:, 0], weights[:, 1] = 255, LARGEST, -LARGEST
    model = write_model(
        [Node("MatMulInteger", ("states", "weights"), ("sums",))],
        inputs=[Tensor("states", UINT8, states.shape), Tensor("weights", INT8, weights.shape)],
        outputs=[Tensor("sums", INT32, (5, 7))],
        weights=[],
    )
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (sums,) = session.run(["sums"], {"states": states, "weights": weights})
    np.testing.assert_array_equal(sums, states.astype(np.int32) @ weights.astype(np.int32))
