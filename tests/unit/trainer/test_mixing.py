"""A mix gives each source its share of the tokens at every moment, and goes on from any place."""

from itertools import islice
from typing import Any

import pytest

from trainer.data.batches import Mix, ShuffledOrder

SOURCES: dict[str, tuple[float, list[int]]] = {
    "web": (3.0, [40, 60, 80, 20, 50]),
    "agent": (1.0, [90, 30, 30]),
    "chat": (0.5, [10, 70]),
}


def mix(**changed: Any) -> Mix:
    given: dict[str, tuple[float, list[int]]] = {**SOURCES, **changed}
    return Mix({name: (share, ShuffledOrder(lengths, tokens=100, seed=3)) for name, (share, lengths) in given.items()})


def test_every_source_has_its_share_of_the_tokens() -> None:
    *_, last = islice(mix().resume_from({}), 600)
    given = {name: stand["tokens"] for name, stand in last.place.items()}
    total = sum(given.values())
    for name, (share, _) in SOURCES.items():
        assert given[name] / total == pytest.approx(share / 4.5, abs=0.005)


def test_the_share_holds_at_every_moment() -> None:
    for batch in islice(mix().resume_from({}), 5, 200):
        given = {name: stand["tokens"] for name, stand in batch.place.items()}
        total = sum(given.values())
        for name, (share, _) in SOURCES.items():
            assert abs(given[name] - total * share / 4.5) <= 200, "no source is two sequences ahead or behind"


def test_sequences_hold_samples_of_one_source_and_each_has_its_number_there() -> None:
    made = mix()
    met: dict[str, set[int]] = {}
    for batch in islice(made.resume_from({}), 50):
        ((name, _), *_) = told = [made.source_of(sample) for sample in batch.samples]
        assert {source for source, _ in told} == {name}
        met.setdefault(name, set()).update(number for _, number in told)
    assert met == {name: set(range(len(lengths))) for name, (_, lengths) in SOURCES.items()}


def test_a_mix_goes_on_from_any_place() -> None:
    whole = list(islice(mix().resume_from({}), 40))
    for cut in (1, 7, 23):
        assert list(islice(mix().resume_from(whole[cut - 1].place), 40 - cut)) == whole[cut:]


def test_other_shares_or_lengths_are_another_mix() -> None:
    assert mix().fingerprint == mix().fingerprint
    assert mix().fingerprint != mix(web=(2.0, SOURCES["web"][1])).fingerprint
    assert mix().fingerprint != mix(web=(3.0, [40])).fingerprint
