"""What a wheel remembers of its turns: what is new to a training, what may be learned from no more, whose weights it
begins with and which checkpoints come of which."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode
from annotation_app.flywheel import engine
from annotation_app.flywheel.models import Turn, Use, Wheel
from annotation_app.flywheel.recipe import Likelihood, MixShares, Recipe, Trials
from annotation_app.flywheel.services import ledger, training
from tests.integration.web.conftest import World
from tests.integration.web.wheels import GATE, attempts_come, stages_to, trainer_write, turned

SERVER = "http://desks.example"


@pytest.fixture
def admin(committed: World) -> User:
    return user_ensure(username="wanda", password="a password of wanda", name="Wanda", roles=["admin"])


@pytest.fixture
def wheel(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel over two attempts that succeeded and one that failed; its turns end with their training."""
    monkeypatch.setattr(training, "trainer_python", lambda: trainer_write(tmp_path / "trainer"))
    stages_to(monkeypatch, "train")
    attempts_come(tmp_path / "first", {0: True, 1: True, 2: False})
    return wheel_of(admin)


def wheel_of(admin: User, name: str = "main", **told: Any) -> Wheel:
    plan = Likelihood(updates=1, shares=MixShares(fresh=0.7, earlier=0.3, general=0))
    recipe = {
        "policy": "toy", "start": "/start", "server": SERVER, "sft": plan, "ct": plan.model_copy(update={"every": 2}),
        "trials": Trials(world="toy", first_seed=GATE, seeds=10), **told,
    }  # fmt: skip
    return ledger.wheel_set(user=admin, name=name, pool="lights", recipe=Recipe.model_validate(recipe))


def failed(wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """A turn whose training ends with an error."""
    with monkeypatch.context() as patched:
        patched.setattr(training, "trainer_python", lambda: "/bin/false")
        turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
        engine.turn_go(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "failed"
    return turn


def learned(turn: Turn, phase: str) -> dict[str, set[int]]:
    """The seeds that a training learned from, by what they were to it."""
    found: dict[str, set[int]] = {}
    for use in Use.objects.filter(checkpoint__turn=turn, checkpoint__phase=phase).select_related("sample"):
        found.setdefault(use.source, set()).add(seed_of(use.sample.episode))
    return found


def seed_of(episode: UUID) -> int:
    seed = Episode.objects.select_related("task").get(pk=episode).task.definition.seed
    assert seed is not None
    return seed


def test_what_a_turn_that_failed_was_to_learn_is_new_to_the_next_and_its_period_does_not_pass(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = turned(wheel, admin)
    assert (learned(first, "sft"), learned(first, "ct")) == ({"fresh": {0, 1}}, {})
    attempts_come(tmp_path / "second", {10: True, 11: False})
    failed(wheel, admin, monkeypatch)
    attempts_come(tmp_path / "third", {20: True, 21: False})
    third = turned(wheel, admin)
    assert learned(third, "ct") == {"fresh": {2, 11, 21}}, "it was due in the turn that failed"
    assert learned(third, "sft") == {"earlier": {0, 1}, "fresh": {10, 20}}
    attempts_come(tmp_path / "fourth", {30: True, 31: False})
    fourth = turned(wheel, admin)
    assert (learned(fourth, "ct"), learned(fourth, "sft")["fresh"]) == ({}, {30})


def test_what_may_be_learned_from_no_more_is_not_learned_from_as_earlier_either(
    wheel: Wheel, admin: User, tmp_path: Path
) -> None:
    attempts_come(tmp_path / "more", {3: True, 4: True, 5: True})
    turned(wheel, admin)
    for review, seed in (("returned", 0), ("rejected", 3), ("accepted", 4)):
        episode = next(one.pk for one in Episode.objects.select_related("task") if one.task.definition.seed == seed)
        Episode.objects.filter(pk=episode).update(review=review)
    attempts_come(tmp_path / "second", {10: True})
    wheel = wheel_of(admin, ct=None, trials=Trials(world="toy", first_seed=5, seeds=3))
    assert learned(turned(wheel, admin), "sft") == {"earlier": {1, 4}, "fresh": {10}}, "of 5 the gate asks now"
