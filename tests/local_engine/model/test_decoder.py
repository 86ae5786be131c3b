import torch

from local_engine.model.decoder import rms_norm


def test_rms_norm_is_torchs_own() -> None:
    x, weight = torch.randn(5, 64) * 3, torch.rand(64)
    torch.testing.assert_close(rms_norm(x, weight, 1e-5), torch.nn.functional.rms_norm(x, (64,), weight, 1e-5))


def test_rms_norm_of_bf16_is_computed_in_fp32_and_rounded_once() -> None:
    x, weight = (torch.randn(5, 64) * 3).bfloat16(), torch.rand(64)
    assert torch.equal(rms_norm(x, weight, 1e-5), rms_norm(x.float(), weight, 1e-5).bfloat16())


def test_rms_norm_leaves_its_input_alone() -> None:
    x = torch.randn(2, 8)
    before = x.clone()
    rms_norm(x, torch.ones(8), 1e-5)
    assert torch.equal(x, before)
