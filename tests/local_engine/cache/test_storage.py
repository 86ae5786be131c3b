import torch

from local_engine.cache.storage import KVStorage


def storage() -> KVStorage:
    return KVStorage(layers=2, num_blocks=4, block_size=8, kv_heads=1, head_dim=4, dtype=torch.float32)


def test_the_pool_begins_finite() -> None:
    assert not storage().gather(0, torch.arange(4)).any()


def test_a_write_touches_its_slots_of_its_layer_and_no_others() -> None:
    pool = storage()
    kv = torch.rand(3, 2, 1, 4) + 1
    slots = torch.tensor([9, 31, 0])
    pool.write(1, kv, slots)
    written = pool.gather(1, torch.arange(4))
    assert torch.equal(written[slots], kv)
    untouched = torch.ones(32, dtype=torch.bool)
    untouched[slots] = False
    assert not written[untouched].any()
    assert not pool.gather(0, torch.arange(4)).any()


def test_a_run_is_a_view_and_a_gather_is_a_copy_of_the_same_slots() -> None:
    pool = storage()
    pool.write(0, torch.rand(16, 2, 1, 4), torch.arange(8, 24))
    run, copy = pool.run(0, 1, 13), pool.gather(0, torch.tensor([1, 2]))
    assert torch.equal(run, copy[:13])
    pool.write(0, torch.full((1, 2, 1, 4), 7.0), torch.tensor([8]))
    assert run[0].eq(7).all()
    assert not copy[0].eq(7).any()


def test_a_gather_follows_the_order_of_the_blocks() -> None:
    pool = storage()
    pool.write(0, torch.arange(32.0)[:, None, None, None].expand(32, 2, 1, 4), torch.arange(32))
    assert pool.gather(0, torch.tensor([3, 0]))[:, 0, 0, 0].tolist() == [*range(24, 32), *range(8)]


def test_its_size_is_that_of_its_keys_and_values() -> None:
    assert storage().nbytes == 2 * 32 * 2 * 4 * 4
