import torch

from local_engine.model.rope import RotaryTable
from tests.support.tiny_model import TINY_SPEC


def test_it_turns_each_pair_by_its_position_times_its_frequency() -> None:
    table = RotaryTable.build(TINY_SPEC, torch.float64)
    positions = torch.tensor([0, 1, 17, TINY_SPEC.context - 1])
    x = torch.randn(4, 3, TINY_SPEC.head_dim, dtype=torch.float64)
    half = TINY_SPEC.head_dim // 2
    frequency = TINY_SPEC.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    turn = torch.polar(torch.ones(4, half, dtype=torch.float64), torch.outer(positions.double(), frequency))
    expected = torch.complex(x[..., :half], x[..., half:]) * turn[:, None]
    table.at(positions).apply_(x)
    torch.testing.assert_close(torch.complex(x[..., :half], x[..., half:]), expected)


def test_rotating_a_view_leaves_its_neighbours_alone() -> None:
    rows = torch.randn(2, 5, TINY_SPEC.head_dim)
    before = rows.clone()
    RotaryTable.build(TINY_SPEC, torch.float32).at(torch.tensor([3, 9])).apply_(rows[:, :3])
    assert torch.equal(rows[:, 3:], before[:, 3:])
    assert not torch.equal(rows[:, :3], before[:, :3])
