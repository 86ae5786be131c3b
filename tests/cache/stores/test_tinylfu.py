from cache.stores.tinylfu import FrequencySketch


def test_it_counts_each_key_up_to_fifteen() -> None:
    sketch = FrequencySketch(1_000)
    for times in range(1, 21):
        assert sketch.add(b"a") == min(15, times)
    assert sketch.add(b"b") == 1
    assert (sketch.estimate(b"a"), sketch.estimate(b"b"), sketch.estimate(b"c")) == (15, 1, 0)


def test_it_forgets_by_halves_so_that_old_fame_fades() -> None:
    sketch = FrequencySketch(64)
    for _ in range(15):
        sketch.add(b"old")
    for number in range(10 * 64):
        sketch.add(b"%d" % number)
    assert sketch.estimate(b"old") <= 8


def test_it_never_estimates_too_low_before_it_ages() -> None:
    sketch = FrequencySketch(256)
    for times in range(1, 6):
        for number in range(200):
            sketch.add(b"%d" % number)
        assert all(sketch.estimate(b"%d" % number) >= times for number in range(200))
