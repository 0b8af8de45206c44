"""The order of training: every sample once an epoch, nothing too long, and the same again after a break."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer.data.batches import BatchPosition, ShuffledOrder, is_held_out, pack_first_fit

LENGTHS = st.lists(st.integers(1, 100), min_size=1, max_size=60)


@settings(deadline=None)
@given(lengths=LENGTHS, seed=st.integers(0, 5), window=st.integers(1, 70), epoch=st.integers(0, 3))
def test_an_epoch_has_every_sample_once_and_no_sequence_is_too_long(
    lengths: list[int], seed: int, window: int, epoch: int
) -> None:
    batches = ShuffledOrder(lengths, tokens=100, seed=seed, window=window).epoch(epoch)
    assert sorted(sample for batch in batches for sample in batch) == list(range(len(lengths)))
    assert all(sum(lengths[sample] for sample in batch) <= 100 for batch in batches)


@settings(deadline=None)
@given(lengths=LENGTHS, seed=st.integers(0, 5), stop=st.integers(0, 40))
def test_a_run_that_was_cut_off_goes_on_with_the_very_batch(lengths: list[int], seed: int, stop: int) -> None:
    whole = [batch.samples for batch in islice(ShuffledOrder(lengths, tokens=100, seed=seed).batches(), stop + 20)]
    begun = list(islice(ShuffledOrder(lengths, tokens=100, seed=seed).batches(), stop))
    place = begun[-1].after if begun else BatchPosition()
    rest = [batch.samples for batch in islice(ShuffledOrder(lengths, tokens=100, seed=seed).batches(place), 20)]
    assert [batch.samples for batch in begun] + rest == whole


def test_epochs_and_seeds_differ_and_a_seed_says_it_all() -> None:
    lengths = [10 + number % 7 for number in range(50)]
    order = ShuffledOrder(lengths, tokens=60, seed=1)
    assert order.epoch(0) == ShuffledOrder(lengths, tokens=60, seed=1).epoch(0)
    assert len({order.epoch(0), order.epoch(1), ShuffledOrder(lengths, tokens=60, seed=2).epoch(0)}) == 3


def test_the_order_is_written_down() -> None:
    """No version of Python or of a library may change it: runs go on from it."""
    assert ShuffledOrder([3, 1, 2, 2, 1], tokens=4, seed=7).epoch(0) == ((3, 2), (1,), (0, 4))


def test_the_longest_are_placed_first() -> None:
    lengths = [3, 7, 5, 5, 2, 8]
    batches = pack_first_fit(range(6), lengths, 10)
    assert batches == [(5, 4), (1, 0), (2, 3)]
    assert sum(lengths[sample] for batch in batches for sample in batch) == 10 * len(batches)


def test_what_does_not_fit_is_no_order() -> None:
    with pytest.raises(ValueError, match="has 11 tokens; a sequence holds 10"):
        ShuffledOrder([5, 11], tokens=10, seed=0)
    with pytest.raises(ValueError, match="nothing to train on"):
        ShuffledOrder([], tokens=10, seed=0)


@pytest.mark.parametrize("place", [BatchPosition(0, 1), BatchPosition(0, -1)])
def test_a_place_that_is_none_is_refused(place: BatchPosition) -> None:
    with pytest.raises(ValueError, match="there is no place"):
        next(ShuffledOrder([5], tokens=10, seed=0).batches(place))


def test_orders_of_other_samples_are_told_apart() -> None:
    first = ShuffledOrder([5, 6], tokens=20, seed=0).fingerprint
    assert first == ShuffledOrder((5, 6), tokens=20, seed=0).fingerprint
    others = [
        ShuffledOrder([6, 5], tokens=20, seed=0),
        ShuffledOrder([5, 6], tokens=21, seed=0),
        ShuffledOrder([5, 6], tokens=20, seed=1),
    ]
    assert first not in {order.fingerprint for order in others}


def test_the_share_that_is_held_out_follows_from_names_and_the_seed() -> None:
    names = [f"attempt {number}" for number in range(1000)]
    first, second = ([name for name in names if is_held_out(name, seed=seed, share=0.2)] for seed in (0, 1))
    assert 150 < len(first) < 250
    assert first != second
    assert not any(is_held_out(name, seed=0, share=0.0) for name in names)
