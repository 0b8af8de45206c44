"""The gate's attempts of a turn over HTTP: seed by seed, two side by side, and their pictures."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.flywheel.models import Checkpoint, Stage, Turn, Wheel
from annotation_app.flywheel.paths import TRIALS_FOLDER, turn_path
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.policies.models import PolicyRevision
from protocol.trajectory.export_folders import TRAJECTORIES, image_path, trajectory_images
from tests.integration.web.conftest import World
from tests.unit.annotation_app.flywheel.test_trials import attempts_write

ACTIVE = {4: True, 5: True, 6: False, 7: False, 8: True}
CANDIDATE = {4: True, 5: False, 6: True, 7: False, 9: True}
"""By seeds: whether each solved the lights."""


class TrialTurn:
    """A turn of which both revisions tried the lights, and who looks at it."""

    def __init__(self, world: World) -> None:
        self.admin = user_ensure(username="wanda", password="a password of wanda", name="Wanda", roles=["admin"])
        plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
        trials = GateTrials(world="toy", temperature=0)
        recipe = Recipe(policy="toy", start="/start", sft=plan, trials=trials)
        self.wheel = Wheel.objects.create(name="main", pool=world.pool, recipe=recipe, owner=self.admin)
        self.turn = self.turned(1)
        self.active = attempts_write(self.folder / "active", ACTIVE)
        self.candidate = attempts_write(self.folder / "candidate", CANDIDATE)
        self.client = world.client(world.ravi)

    def turned(self, number: int, **told: Any) -> Turn:
        """A turn whose gate has compared the two."""
        told |= {"recipe": self.wheel.recipe, "requested_by": self.admin}
        turn = Turn.objects.create(wheel=self.wheel, number=number, state="done", **told)
        result = {"candidate": "toy main", "attempts": 5, "successes": 3, "active_attempts": 5, "active_successes": 3}
        Stage.objects.create(turn=turn, name="gate", state="done", result=result)
        return turn

    @property
    def folder(self) -> Path:
        return turn_path(self.turn.pk) / TRIALS_FOLDER

    def get(self, path: str, client: Client | None = None, turn: Turn | None = None) -> tuple[int, Any]:
        """What a route below the turn's answers: the status, and what was told or the code of the refusal."""
        response = (client or self.client).get(f"/api/turns/{(turn or self.turn).pk}/{path}")
        told = response.json()
        return response.status_code, told if isinstance(told, list) else told.get("code", told)


@pytest.fixture
def trial_turn(committed: World) -> TrialTurn:
    return TrialTurn(committed)


def test_the_attempts_at_a_task_come_seed_by_seed_those_that_differ_first(trial_turn: TrialTurn) -> None:
    status, rows = trial_turn.get("trials?suite=toy&name=lights")
    assert status == 200
    solved = [
        (row["seed"], *(None if row[side] is None else row[side]["solved"] for side in ("active", "candidate")))
        for row in rows
    ]
    assert solved == [
        (5, True, False), (8, True, None), (6, False, True), (9, None, True), (4, True, True), (7, False, False),
    ]  # fmt: skip
    assert rows[0]["active"] == {
        "place": 1, "solved": True, "outcome": "success", "steps": len(trial_turn.active[1].steps),
    }  # fmt: skip
    assert trial_turn.get("trials?suite=toy&name=lights&level=2") == (200, [])
    assert trial_turn.get("trials?suite=toy&name=other") == (200, [])


def test_two_attempts_stand_side_by_side_from_where_they_part(trial_turn: TrialTurn) -> None:
    status, beside = trial_turn.get("trials/beside?active=1&candidate=1")
    assert status == 200
    assert (beside["kind"], beside["seed"], beside["instruction"]) == ("toy/lights", 5, "Point")
    assert beside["divergence"] == 0
    for side, attempt in (("active", trial_turn.active[1]), ("candidate", trial_turn.candidate[1])):
        steps = [step.model_dump(mode="json") for step in attempt.steps]
        assert beside[side]["steps"] == steps
        assert [beside[side]["verdict"]["success"], beside[side]["outcome"]] == [
            side == "active",
            "success" if side == "active" else "failure",
        ]
    assert trial_turn.get("trials/beside?active=0&candidate=0")[1]["divergence"] is None, "both do the same"
    assert trial_turn.get("trials/beside?active=0&candidate=1") == (409, "two_tasks")
    assert trial_turn.get("trials/beside?active=0&candidate=5") == (404, "trial_unknown")
    assert trial_turn.get("trials/beside?active=-1&candidate=0")[0] == 422


def test_a_picture_is_given_where_the_attempt_shows_it(trial_turn: TrialTurn) -> None:
    picture = trajectory_images(trial_turn.candidate[1])[-1]
    path = f"/api/turns/{trial_turn.turn.pk}/trials/candidate/1/pictures"
    response = trial_turn.client.get(f"{path}/{picture.sha256}")
    assert (response.status_code, response["Content-Type"]) == (200, "image/png")
    assert "immutable" in response["Cache-Control"]
    assert response.content == (trial_turn.folder / "candidate" / image_path(picture)).read_bytes()
    (foreign, *_more) = set(trajectory_images(trial_turn.active[1])) - set(trajectory_images(trial_turn.candidate[1]))
    assert trial_turn.get(f"trials/candidate/1/pictures/{foreign.sha256}") == (404, "picture_unknown")
    assert trial_turn.get(f"trials/active/1/pictures/{foreign.sha256.upper()}")[0] == 422
    for elsewhere in ("..%2f..%2freport.json", "%2e%2e"):
        assert trial_turn.client.get(f"{path}/{elsewhere}").status_code in (404, 422)
    assert (
        trial_turn.client.get(f"/api/turns/{trial_turn.turn.pk}/trials/..%2f/1/pictures/{picture.sha256}").status_code
        == 404
    )


def test_what_is_not_there_says_why(trial_turn: TrialTurn, committed: World) -> None:
    asked = (
        "trials?suite=toy&name=lights",
        "trials/beside?active=0&candidate=0",
        f"trials/active/0/pictures/{'0' * 64}",
    )
    assert trial_turn.get(asked[2]) == (404, "picture_unknown")
    ada = committed.client(committed.ada)
    assert [trial_turn.get(path, ada) for path in asked] == [(403, "forbidden")] * 3
    untried = trial_turn.turned(2)
    Stage.objects.filter(turn=untried).update(result={"attempts": 5, "successes": 3})
    assert [trial_turn.get(path, turn=untried) for path in asked] == [(404, "trials_none")] * 3
    shutil.rmtree(trial_turn.folder / "active")
    assert [trial_turn.get(path) for path in asked] == [(404, "trials_gone")] * 3
    (trial_turn.folder / "candidate" / TRAJECTORIES).write_text("{}\n")
    assert trial_turn.get(f"trials/candidate/0/pictures/{'0' * 64}") == (409, "trials_unreadable")


def test_an_active_revision_that_was_not_tried_again_is_read_where_it_was_a_candidate(trial_turn: TrialTurn) -> None:
    made = PolicyRevision.objects.create(name="toy", revision="main-0001", base_url="https://models.example/v1")
    Checkpoint.objects.create(
        turn=trial_turn.turn, phase="sft", path="/made", sha256="0" * 64, begun_with="/", revision=made
    )
    later = trial_turn.turned(2, active=made)
    attempts_write(turn_path(later.pk) / TRIALS_FOLDER / "candidate", CANDIDATE)
    _status, rows = trial_turn.get("trials?suite=toy&name=lights", turn=later)
    assert [row["active"] for row in rows] == [row["candidate"] for row in rows]
    attempts_write(turn_path(later.pk) / TRIALS_FOLDER / "active", ACTIVE)
    _status, rows = trial_turn.get("trials?suite=toy&name=lights", turn=later)
    assert rows[0]["active"]["solved"] != rows[0]["candidate"]["solved"], "its own attempts go before"
