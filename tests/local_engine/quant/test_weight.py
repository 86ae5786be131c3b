import torch

from local_engine.quant.weight import Dense, Grouped, stack_rows


def grouped(rows: int, columns: int = 64, *, bits: int = 4, seed: int = 0) -> Grouped:
    noise = torch.Generator().manual_seed(seed)
    codes = torch.randint(0, 16, (rows, columns), generator=noise).to(torch.uint8 if bits == 4 else torch.int8)
    scale = torch.rand(rows, columns // 32, generator=noise).half()
    return Grouped(codes, scale, -torch.rand(rows, columns // 32, generator=noise).half(), bits)


def test_each_value_is_its_code_times_the_groups_scale_plus_the_groups_minimum() -> None:
    weight = grouped(2)
    values = weight.dequantised()
    for row, column in ((0, 0), (0, 31), (0, 32), (1, 63)):
        scale, minimum = float(weight.scale[row, column // 32]), float(weight.minimum[row, column // 32])
        assert float(values[row, column]) == torch.tensor(int(weight.codes[row, column]) * scale + minimum)


def test_taking_rows_before_or_after_dequantising_is_the_same() -> None:
    weight, order = grouped(8), torch.randperm(8)
    assert torch.equal(weight.take_rows(order).dequantised(), weight.dequantised()[order])
    dense = Dense(weight.dequantised())
    assert torch.equal(dense.take_rows(order).dequantised(), weight.dequantised()[order])


def test_stacking_alike_integers_keeps_integers() -> None:
    first, second = grouped(4, seed=1), grouped(2, seed=2)
    stacked = stack_rows((first, second))
    assert isinstance(stacked, Grouped)
    assert torch.equal(stacked.dequantised(), torch.cat((first.dequantised(), second.dequantised())))


def test_stacking_unlike_weights_loses_nothing_but_the_integers() -> None:
    parts = (grouped(4), grouped(4, bits=8), Dense(torch.rand(3, 64)))
    stacked = stack_rows(parts)
    assert isinstance(stacked, Dense)
    assert torch.equal(stacked.values, torch.cat([part.dequantised() for part in parts]))
