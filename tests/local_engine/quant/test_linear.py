import pytest
import torch

from local_engine.quant.linear import FEW_ROWS, DenseLinear, DualLinear, Int4Linear, PackedLinear, fits_int4
from local_engine.quant.pack import compute_dtype, pack_head, pack_linear
from local_engine.quant.weight import Dense, Grouped
from local_engine.types import Numerics


def q4(rows: int, columns: int, seed: int = 0) -> Grouped:
    noise = torch.Generator().manual_seed(seed)
    codes = torch.randint(0, 16, (rows, columns), dtype=torch.uint8, generator=noise)
    scale = (torch.rand(rows, columns // 32, generator=noise) + 0.5) / columns**0.5
    return Grouped(codes, scale.half(), (-7.5 * scale).half(), bits=4)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    return float((got.double() - expected).norm() / expected.norm())


@pytest.mark.parametrize(("outputs", "columns"), [(960, 576), (576, 1536), (16, 32), (48, 64)])
@pytest.mark.parametrize("rows", [1, 3, 4, 5, 33])
def test_the_int4_kernel_multiplies_the_same_integers(outputs: int, columns: int, rows: int) -> None:
    weight = q4(outputs, columns)
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(1)).bfloat16()
    exact = x.double() @ weight.dequantised().double().T
    assert relative_error(Int4Linear.pack(weight)(x), exact) < 5e-3


def test_the_int4_layout_is_lossless_where_bf16_can_hold_the_scales() -> None:
    codes = torch.randint(0, 16, (32, 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))
    weight = Grouped(codes, torch.full((32, 2), 0.25).half(), torch.full((32, 2), -1.0).half(), bits=4)
    one_hot = torch.eye(64).bfloat16()
    assert torch.equal(Int4Linear.pack(weight)(one_hot).float().T, weight.dequantised())


def test_a_row_gets_the_same_bits_from_int4_whatever_shares_its_batch() -> None:
    linear = Int4Linear.pack(q4(64, 64))
    x = torch.randn(9, 64, generator=torch.Generator().manual_seed(3)).bfloat16()
    assert torch.equal(linear(x)[4:5], linear(x[4:5].contiguous()))


@pytest.mark.parametrize("rows", [1, FEW_ROWS, FEW_ROWS + 1, 64])
def test_both_layouts_of_a_dual_linear_are_the_same_matrix(rows: int) -> None:
    weight = q4(96, 64)
    linear = pack_linear(weight, Numerics.Q4)
    assert isinstance(linear, DualLinear)
    x = torch.randn(rows, 64, generator=torch.Generator().manual_seed(4)).bfloat16()
    exact = x.double() @ weight.dequantised().double().T
    assert relative_error(linear(x), exact) < 5e-3
    assert relative_error(linear.few(x), exact) < 5e-3
    assert relative_error(linear.many(x), exact) < 5e-3


def test_a_packed_weight_takes_any_number_of_rows() -> None:
    weight = torch.randn(48, 64, generator=torch.Generator().manual_seed(5)).bfloat16()
    packed = PackedLinear.pack(weight, 16)
    for rows in (1, 2, 16, 100):
        x = torch.randn(rows, 64, generator=torch.Generator().manual_seed(rows)).bfloat16()
        assert relative_error(packed(x), x.double() @ weight.double().T) < 5e-3


def test_weights_the_int4_kernel_cannot_take_are_held_as_bf16() -> None:
    odd_outputs = q4(17, 64)
    eight_bits = Grouped(torch.ones(16, 64, dtype=torch.int8), torch.ones(16, 2), torch.zeros(16, 2), bits=8)
    groups_of_16 = Grouped(torch.ones(16, 64, dtype=torch.uint8), torch.ones(16, 4), torch.zeros(16, 4), bits=4)
    for weight in (odd_outputs, eight_bits, groups_of_16):
        assert not fits_int4(weight)
        linear = pack_linear(weight, Numerics.Q4)
        assert not isinstance(linear, DualLinear)
        x = torch.randn(2, 64, generator=torch.Generator().manual_seed(6)).bfloat16()
        assert relative_error(linear(x), x.double() @ weight.dequantised().double().T) < 5e-3
    assert not isinstance(pack_linear(Dense(torch.rand(16, 64)), Numerics.Q4), DualLinear)


def test_the_head_is_fp32_in_every_mode() -> None:
    weight = q4(32, 64)
    head = pack_head(weight)
    assert isinstance(head, DenseLinear)
    assert torch.equal(head.weight, weight.dequantised())


@pytest.mark.parametrize("numerics", [Numerics.REFERENCE, Numerics.FP32])
def test_the_exact_modes_hold_the_dequantised_values(numerics: Numerics) -> None:
    weight = q4(32, 64)
    linear = pack_linear(weight, numerics)
    assert isinstance(linear, DenseLinear)
    assert torch.equal(linear.weight, weight.dequantised())
    assert compute_dtype(numerics) is torch.float32
