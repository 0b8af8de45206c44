"""The commands over real folders: the report and its table, what is kept, and what is refused."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.evaluation import rejection_sampling
from agent_backend.evaluation.__main__ import main
from agent_backend.evaluation.rejection_sampling import write_selected
from agent_backend.rollout.attempts import build_trajectory
from agent_backend.trajectory_folders import InvalidFolder, TrajectoryFolderWriter, read_trajectories
from protocol.actions.types import Click
from protocol.blobs import BlobRef
from protocol.evaluation.records import AttemptRecord
from protocol.evaluation.reports import Evaluation
from protocol.trajectory.export_folders import IMAGES, TRAJECTORIES
from protocol.trajectory.observations import Verdict
from tests.unit.agent_backend.episode.test_unattended import SAID, run_episode
from tests.unit.agent_backend.evaluation.examples import example_attempt
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from tests.unit.protocol.examples import step
from tests.unit.trainer.trajectory_folders import write_trajectory_folder
from trainer.data.trajectories import open_folder

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    folder = tmp_path / "s2"
    write_trajectory_folder(
        folder,
        example_attempt("snake", True, steps=5, run="new"),
        example_attempt("snake", True, steps=2, seed=1, run="new"),
        example_attempt("snake", False, seed=2, run="new"),
        example_attempt("maze", False, run="new", terminated=False, truncated=True),
        example_attempt("maze", None, seed=1, run="new"),
        example_attempt("maze", True, steps=3, seed=2, run="new"),
    )
    return folder


def test_a_report_is_written_whole_and_printed(
    rollouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "s1"
    write_trajectory_folder(before, *(example_attempt("snake", False, seed=seed, run="old") for seed in range(3)))
    out = tmp_path / "report.json"
    out.write_text("an older one")
    assert main([str(rollouts), "--against", str(before), "--out", str(out)]) == 0
    report = Evaluation.model_validate_json(out.read_bytes())
    assert (report.attempts, report.left_out.unjudged) == (5, 1)
    assert [task.name for task in report.tasks] == ["maze", "snake"]
    assert report.comparison is not None
    assert report.comparison.only_after == ("games/maze",)
    assert [path.name for path in tmp_path.glob("report*")] == ["report.json"]
    said = capsys.readouterr().out
    assert "games/snake" in said
    assert "0/3 → 2/3" in said
    assert "can be chance" in said


def test_several_folders_are_read_as_one_and_none_twice(rollouts: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    write_trajectory_folder(more, example_attempt("snake", True, seed=9, run="new"))
    assert len(list(read_trajectories([rollouts, more]))) == 7
    with pytest.raises(InvalidFolder, match="again"):
        list(read_trajectories([rollouts, rollouts]))


def test_an_empty_folder_gives_an_empty_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trajectory_folder(tmp_path / "none")
    assert main([str(tmp_path / "none"), "--against", str(tmp_path / "none")]) == 0
    assert "0 attempts" in capsys.readouterr().out


def test_the_gate_is_shut_for_what_does_not_hold_up(rollouts: Path, tmp_path: Path) -> None:
    good, less = tmp_path / "s1", tmp_path / "s0"
    write_trajectory_folder(good, *(example_attempt("snake", True, seed=seed, run="old") for seed in range(3)))
    write_trajectory_folder(less, example_attempt("pipes", True, run="old"))
    assert main([str(rollouts), "--against", str(good), "--gate"]) == 0
    assert main([str(rollouts), "--against", str(less), "--gate"]) == 2
    with pytest.raises(SystemExit):
        main([str(rollouts), "--gate"])


def test_folders_that_cannot_be_trusted_are_refused(
    rollouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere")]) == 1
    (tmp_path / "s3.tmp").mkdir()
    assert main([str(tmp_path / "s3.tmp")]) == 1
    with (rollouts / TRAJECTORIES).open("ab") as lines:
        lines.write(b"{}\n")
    assert main([str(rollouts), "--out", str(tmp_path / "report.json")]) == 1
    assert not (tmp_path / "report.json").exists()
    assert capsys.readouterr().err.count("folder_unusable") == 3


def blob_reader(store: InMemoryEpisodeStore) -> Callable[[BlobRef], bytes | None]:
    return lambda ref: store.blobs.get(ref.sha256)


async def test_a_rollouts_own_folder_is_evaluated_and_kept(tmp_path: Path) -> None:
    made = tmp_path / "s4"
    folder = TrajectoryFolderWriter(made, {"origin": "rollout"})
    for policy in (FakePolicy(SAID), FakePolicy()):
        store = await run_episode(policy, max_steps=2)
        named = build_trajectory(store).model_copy(update={"id": f"try-{len(folder.tasks_by_id)}"})
        folder.add(named, blob_reader(store))
    folder.finish(at=NOON)
    assert main([str(made), "--out", str(tmp_path / "report.json")]) == 0
    report = Evaluation.model_validate_json((tmp_path / "report.json").read_bytes())
    assert [(task.successes.successes, task.successes.attempts) for task in report.tasks] == [(1, 2)]
    assert [one.rate for one in report.tasks[0].pass_at] == [0.5, 1]
    write_selected([made], tmp_path / "kept", at=NOON)
    assert [one.id for one in open_folder(tmp_path / "kept").trajectories()] == ["try-0"]


def test_only_what_a_verifier_believed_is_kept(rollouts: Path, tmp_path: Path) -> None:
    manifest = write_selected([rollouts], tmp_path / "kept", at=NOON)
    folder = open_folder(tmp_path / "kept")
    assert [one.id for one in folder.trajectories()] == ["new-games-snake-0", "new-games-snake-1", "new-games-maze-2"]
    assert manifest == folder.manifest
    assert manifest.filters == {"verified": True, "tries": None, "most": None, "from": ["s2"]}
    assert (manifest.counts.steps, manifest.counts.images, manifest.pool) == (10, 6, "Desktop")


def test_tries_bound_what_is_looked_at_and_the_shortest_are_kept(rollouts: Path, tmp_path: Path) -> None:
    write_selected([rollouts], tmp_path / "first", at=NOON, tries=1)
    write_selected([rollouts], tmp_path / "shortest", at=NOON, most=1)
    first = [one.id for one in open_folder(tmp_path / "first").trajectories()]
    shortest = [one.id for one in open_folder(tmp_path / "shortest").trajectories()]
    assert first == ["new-games-snake-0"]
    assert shortest == ["new-games-snake-1", "new-games-maze-2"]


def test_a_persons_word_is_no_verifiers(tmp_path: Path) -> None:
    trusting = example_attempt("a", None, origin="annotation", verdict=Verdict(success=None, score=0))
    write_trajectory_folder(tmp_path / "in", trusting)
    assert write_selected([tmp_path / "in"], tmp_path / "out", at=NOON).counts.trajectories == 0


def test_pictures_are_checked_while_they_are_copied(rollouts: Path, tmp_path: Path) -> None:
    altered = rollouts / IMAGES / f"{hashlib.sha256(b'screen-1').hexdigest()}.png"
    altered.write_bytes(b"another")
    with pytest.raises(InvalidFolder, match="altered"):
        write_selected([rollouts], tmp_path / "kept", at=NOON)
    altered.unlink()
    with pytest.raises(InvalidFolder, match="missing"):
        write_selected([rollouts], tmp_path / "kept", at=NOON)
    assert not (tmp_path / "kept").exists()


def test_keeping_by_command_never_overwrites(
    rollouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(rollouts), "--tries", "3", "--most", "1", "--out", str(tmp_path / "kept")]
    assert rejection_sampling.main(given) == 0
    assert "2 trajectories, 5 steps" in capsys.readouterr().out
    assert rejection_sampling.main(given) == 1
    with pytest.raises(SystemExit):
        rejection_sampling.main([*given[:2], "0", *given[3:]])


def test_people_and_policies_have_records_of_one_form(tmp_path: Path) -> None:
    folder, target = tmp_path / "all", tmp_path / "records.jsonl"
    verdict = Verdict(success=True, score=0.5, points=7.0, verifier="ab" * 32, version="1.2")
    own = step(0, Click(x=1, y=1), actor="human", decision="override")
    write_trajectory_folder(
        folder,
        example_attempt("maze", True, verdict=verdict, terminated=True, truncated=False),
        example_attempt(
            "maze", True, run="p", verdict=verdict, origin="annotation", annotator="p1", steps=0, proposals=()
        ).model_copy(update={"steps": (own,)}),
        example_attempt("maze", True, run="h", verdict=verdict, origin="annotation", annotator="p1"),
        example_attempt("maze", None, run="l", verdict=Verdict(success=None, score=0, error="verifier_failed")),
    )
    assert main([str(folder), "--records", str(target)]) == 0
    records = [AttemptRecord.model_validate_json(line) for line in target.read_text().splitlines()]
    assert [(each.actor, each.assisted, each.outcome, each.reward) for each in records] == [
        ("policy", False, "success", 0.5),
        ("person", False, "success", 0.5),
        ("person", True, "success", 0.5),
        ("policy", False, "infrastructure", None),
    ]
    whole = records[1]
    assert (whole.by, whole.points, whole.version, whole.verifier, whole.steps) == ("p1", 7.0, "1.2", "ab" * 32, 1)
