import torch

from local_engine.model.decoder import rms_norm


def test_rms_norm_is_torchs_own() -> None:
    x, weight = torch.randn(5, 64) * 3, torch.rand(64)
    torch.testing.assert_close(rms_norm(x, weight, 1e-5), torch.nn.functional.rms_norm(x, (64,), weight, 1e-5))


def test_rms_norm_leaves_its_input_alone() -> None:
    x = torch.randn(2, 8)
    before = x.clone()
    rms_norm(x, torch.ones(8), 1e-5)
    assert torch.equal(x, before)
