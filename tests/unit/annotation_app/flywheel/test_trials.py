"""Reading a folder of attempts at the gate: what is found, and every way in which it may not be as it should."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotation_app.errors import ApplicationError
from annotation_app.flywheel import trials
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import MANIFEST, TRAJECTORIES, image_path, trajectory_images, trajectory_prompts
from protocol.trajectory.trajectories import Trajectory
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.lights import NAMES
from trainer.toy.trajectory_folders import write_trajectory_folder

KIND = "toy/lights"


def attempts_write(
    folder: Path, won: Mapping[int, bool], *, name: str = "lights", revision: str = "start"
) -> list[Trajectory]:
    """Attempts at the lights, by seeds: those that were to succeed name the corner that shines."""
    plays = []
    for seed, wins in won.items():
        play = LightsEpisode(seed)
        while not play.is_over:
            corner = NAMES[play.lights.lit if wins else (play.lights.lit + 1) % len(NAMES)]
            said = PolicyReply(
                text=f" {corner}", ids=(seed, 2), logprobs=(-0.1, -0.1), versions=(revision,), finish="stop"
            )
            play.apply_reply((1, 2), said, 1.0)
        plays.append(play)
    made = [named(play.trajectory(), name) for play in plays]
    write_trajectory_folder(folder, made, {ref: data for play in plays for ref, data in play.blobs.items()})
    return made


def named(one: Trajectory, name: str) -> Trajectory:
    return one.model_copy(update={"task": one.task.model_copy(update={"name": name})})


def read_error_code(folder: Path, place: int = 0) -> str:
    """The code with which reading an attempt is refused."""
    with pytest.raises(ApplicationError) as error:
        trials.trial_trajectory(folder, place)
    return error.value.code


def test_attempts_at_a_kind_of_task_are_found_by_their_places(tmp_path: Path) -> None:
    made = attempts_write(tmp_path / "tried", {7: True, 3: False})
    found = trials.trial_heads(tmp_path / "tried", KIND)
    assert [(place, head.task.seed, head.verdict and head.verdict.success) for place, head in found] == [
        (0, 7, True),
        (1, 3, False),
    ]
    assert [len(head.steps) for _place, head in found] == [len(one.steps) for one in made]
    assert trials.trial_heads(tmp_path / "tried", "toy/other") == []
    assert trials.trial_trajectory(tmp_path / "tried", 1) == made[1]
    assert read_error_code(tmp_path / "tried", 2) == "trial_unknown"


def test_only_pictures_that_the_attempt_shows_are_given(tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    (one, other) = attempts_write(folder, {7: True, 3: False})
    shown = trajectory_images(one)[0]
    assert trials.picture_read(folder, 0, shown.sha256) == (shown, (folder / image_path(shown)).read_bytes())

    def told(place: int, sha256: str) -> str:
        with pytest.raises(ApplicationError) as error:
            trials.picture_read(folder, place, sha256)
        return error.value.code

    (prompt, *_more) = trajectory_prompts(one)
    assert (folder / image_path(prompt)).is_file()
    assert told(0, prompt.sha256) == "picture_unknown", "a prompt is no picture"
    (elsewhere, *_more) = set(trajectory_images(other)) - set(trajectory_images(one))
    assert told(0, elsewhere.sha256) == "picture_unknown", "it is of another attempt"
    (folder / image_path(shown)).write_bytes(b"something else")
    assert told(0, shown.sha256) == "picture_changed"
    (folder / image_path(shown)).unlink()
    assert told(0, shown.sha256) == "picture_unknown"


def test_a_picture_of_another_type_than_ours_is_never_given(tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    (one,) = attempts_write(folder, {7: True})
    script = BlobRef.of(b"<svg/>", "image/svg+xml")
    look = one.steps[0].before.model_copy(update={"screenshot": script})
    steps = (one.steps[0].model_copy(update={"before": look}), *one.steps[1:])
    altered = one.model_copy(update={"steps": steps})
    (folder / TRAJECTORIES).write_text(altered.model_dump_json() + "\n")
    with pytest.raises(ApplicationError) as error:
        trials.picture_read(folder, 0, script.sha256)
    assert error.value.code == "picture_unknown"


def test_what_is_gone_unfinished_unreadable_or_too_large_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tried"
    assert read_error_code(folder) == "trials_gone"
    attempts_write(folder, {7: True, 3: False})
    size = (folder / TRAJECTORIES).stat().st_size
    longest = max(len(line) for line in (folder / TRAJECTORIES).read_bytes().splitlines(keepends=True))
    with monkeypatch.context() as patched:
        patched.setattr(trials, "MAX_ATTEMPT_BYTES", longest)
        trials.trial_trajectory(folder, 1)
        patched.setattr(trials, "MAX_ATTEMPT_BYTES", longest - 1)
        assert read_error_code(folder, 1) == "trials_too_large"
    with monkeypatch.context() as patched:
        patched.setattr(trials, "MAX_FOLDER_BYTES", size - 1)
        assert read_error_code(folder) == "trials_too_large"
    lines = (folder / TRAJECTORIES).read_text().splitlines()
    told = json.loads(lines[0]) | {"outcome": "maybe"}
    (folder / TRAJECTORIES).write_text("\n".join((json.dumps(told), lines[1])) + "\n")
    assert read_error_code(folder) == "trials_unreadable"
    trials.trial_trajectory(folder, 1)
    (folder / MANIFEST).unlink()
    assert read_error_code(folder, 1) == "trials_gone", "without its list it is no whole folder"
