"""A benchmark run: pinned before it begins, resumed, refused where its tasks changed, and compared with others."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_backend.benchmark import run_lock
from agent_backend.benchmark.__main__ import main, parse_arguments
from agent_backend.benchmark.leaderboard import build_leaderboards, render_leaderboards
from agent_backend.benchmark.manifest import MANIFEST_FILE, RESULT_FILE, make_manifest, pin, read_manifest_file
from agent_backend.evaluation.results import read_people
from agent_backend.rollout import machine_reuse
from agent_backend.rollout.attempt_log import read_records
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.options import build_plan
from protocol.evaluation.benchmarks import BenchmarkResult
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.evaluation.examples import example_attempt
from tests.unit.trainer.trajectory_folders import write_trajectory_folder
from vm_bridge.suites.web.task_folder import read_task_folders

TASKS = ("maze", "snake", "tetris")
BRIDGE = ("--bridge", "http://127.0.0.1:1")
MODEL = ("--model-url", "http://127.0.0.1:2/v1", "--model", "m", "--dialect", "ui_tars_1_5")


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(f'{{"id": "{name}", "name": "{name}", "instruction": "Play."}}\n' for name in TASKS))
    return path


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Which tasks the next attempts solve; a test changes it."""
    names: set[str] = set()

    async def attempt(bridge: object, image: str, task: Task, *_: object) -> AttemptResult:
        won = task.name in names
        verdict = Verdict(success=won, score=float(won), verifier="abc", version="1.0", points=10.0 * won)
        run = f"{len(names)}-{task.id}"
        made = example_attempt(task.name or "", won, run=run, verdict=verdict, task=task, steps=0, proposals=())
        return AttemptResult(made, "", {})

    monkeypatch.setattr(machine_reuse.MachineReuse, "run_attempt", attempt)
    return names


def run(tasks: Path, out: Path, revision: str, *more: str) -> int:
    return main((str(tasks), *BRIDGE, *MODEL, "--revision", revision, "--out", str(out), *more))


def test_a_run_is_pinned_recorded_and_read_again(tasks: Path, tmp_path: Path, solved: set[str]) -> None:
    solved |= {"maze"}
    out = tmp_path / "runs" / "r1"
    assert run(tasks, out, "r1") == 0
    result = BenchmarkResult.model_validate_json((out / RESULT_FILE).read_bytes())
    assert [task.id for task in result.manifest.tasks] == list(TASKS)
    assert (result.records, result.missing, result.evaluation.attempts) == (3, 0, 3)
    records = read_records(out / "attempts")
    assert {(record.actor, record.version, record.verifier) for record in records} == {("policy", "1.0", "abc")}
    assert sorted((record.name, record.reward, record.points) for record in records) == [
        ("maze", 1.0, 10.0),
        ("snake", 0.0, 0.0),
        ("tetris", 0.0, 0.0),
    ]
    solved |= set(TASKS)
    assert run(tasks, out, "r1") == 0
    again = BenchmarkResult.model_validate_json((out / RESULT_FILE).read_bytes())
    assert again.evaluation.suites == result.evaluation.suites, "what was attempted is not attempted again"


def test_other_tasks_or_options_are_refused(
    tasks: Path, tmp_path: Path, solved: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs" / "r1"
    assert run(tasks, out, "r1") == 0
    assert run(tasks, out, "r2") == 1
    assert "manifest_mismatch" in capsys.readouterr().err
    pinned = (out / MANIFEST_FILE).read_bytes()
    tasks.write_text(tasks.read_text().replace("Play.", "Win.", 1))
    again = ("--manifest", str(out / MANIFEST_FILE), *BRIDGE, *MODEL, "--revision", "r2", "--out", str(tmp_path / "r2"))
    assert main(again) == 1
    assert "manifest_mismatch: the task maze was changed" in capsys.readouterr().err
    assert not (tmp_path / "r2").exists()
    assert (out / MANIFEST_FILE).read_bytes() == pinned


def test_a_second_command_in_a_folder_is_refused(
    tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_lock, "LOCK_WAIT_SECONDS", 0.0)
    out = tmp_path / "r1"
    out.mkdir()
    with run_lock.run_lock(out):
        assert run(tasks, out, "r1") == 1
    assert "run_active" in capsys.readouterr().err
    assert not (out / MANIFEST_FILE).exists()


def test_a_manifest_repeats_tasks_seeds_and_limits(tasks: Path, tmp_path: Path) -> None:
    words = ("--seeds", "2", "--first-seed", "5", "--max-steps", "9", "--task", "maze", "--kind", "maze")
    first = parse_arguments((str(tasks), *BRIDGE, *words, "--policy", "expert"))
    assert first.expert
    plan = build_plan(first)
    pin(tmp_path / "r1", make_manifest("tasks", plan, [Task(id="maze", instruction="Play.")]))
    manifest = str(tmp_path / "r1" / MANIFEST_FILE)
    other = build_plan(parse_arguments(("--manifest", manifest, *BRIDGE, *MODEL, "--revision", "r2")))
    assert other.policy.revision == "r2"
    same = ("source", "source_sha256", "seeds", "first_seed", "max_steps", "names", "kinds", "levels")
    assert [getattr(other, name) for name in same] == [getattr(plan, name) for name in same]


def test_revisions_are_compared_over_the_same_tasks_and_verifiers_alone(
    tasks: Path, tmp_path: Path, solved: set[str]
) -> None:
    runs = tmp_path / "runs"
    solved |= {"maze"}
    run(tasks, runs / "r1", "r1", "--max-steps", "7")
    solved |= {"snake", "tetris"}
    run(tasks, runs / "r2", "r2", "--max-steps", "7")
    run(tasks, runs / "short", "r2", "--max-steps", "3")
    boards = build_leaderboards(runs)
    assert sorted(tuple(row.run for row in board.rows) for board in boards) == [("r2", "r1"), ("short",)]
    both = next(board for board in boards if len(board.rows) == 2)
    assert [(row.revision, row.success, row.finding) for row in both.rows] == [
        ("r2", 1.0, None),
        ("r1", 1 / 3, "chance"),
    ]
    assert "7 steps" in both.rows[0].how
    assert "r1" in render_leaderboards(boards)
    target = tmp_path / "boards.json"
    assert main(("--leaderboard", str(runs), "--json", str(target))) == 0
    assert len(json.loads(target.read_text())) == 2


def test_people_are_the_hundred_where_three_played_alone(tmp_path: Path) -> None:
    people = tmp_path / "people"
    own: dict[str, Any] = {"origin": "annotation", "annotator": "p1", "policies": (), "steps": 0, "proposals": ()}
    verdicts = [Verdict(success=True, score=1.0, points=points) for points in (10.0, 30.0, 20.0)]
    write_trajectory_folder(
        people,
        *(example_attempt("maze", True, run=f"p{n}", verdict=verdict, **own) for n, verdict in enumerate(verdicts)),
        *(example_attempt("snake", True, run=f"s{n}", verdict=verdicts[0], **own) for n in range(2)),
        *(example_attempt("tetris", True, run=f"a{n}", verdict=verdicts[0], origin="annotation") for n in range(3)),
    )
    found = read_people([people])
    assert {task.name: (score.median, score.points) for task, score in found.items()} == {"maze": (20.0, True)}


LMGAME = ("sokoban", "tetris", "2048", "match3", "platformer", "courtroom")


async def lmgame_tasks(*_: object) -> tuple[Task, ...]:
    return tuple(Task(id=f"games/{name}", instruction="Play.", suite="games", name=name) for name in LMGAME)


def test_runs_with_the_harness_and_without_are_compared_game_by_game(
    tmp_path: Path, solved: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("agent_backend.benchmark.__main__", "agent_backend.rollout.runner"):
        monkeypatch.setattr(f"{module}.list_tasks", lmgame_tasks)
    runs = tmp_path / "runs"

    def play(name: str, *more: str) -> None:
        assert main(("lmgame", *BRIDGE, *MODEL, "--revision", name, "--out", str(runs / name), *more)) == 0

    play("r0")
    solved |= {"2048"}
    play("r1")
    solved |= set(LMGAME)
    play("harnessed", "--harness")
    manifest = read_manifest_file(runs / "harnessed" / MANIFEST_FILE)
    assert (manifest.harness, manifest.plan["harness"]) == (True, "both")
    assert not read_manifest_file(runs / "r1" / MANIFEST_FILE).harness
    (board,) = build_leaderboards(runs)
    found = {row.run: {game.name: (game.raw, game.normalised) for game in row.games} for row in board.rows}
    assert (found["r0"]["2048"], found["r1"]["2048"]) == ((0.0, 1.0), (10.0, 100.0))
    assert (found["r1"]["tetris"], found["harnessed"]["2048"]) == ((0.0, 1.0), (10.0, 1.0)), "no range is 1"
    assert {row.run: row.harness for row in board.rows} == {"r0": False, "r1": False, "harnessed": True}
    shown = render_leaderboards((board,))
    assert "harness (both)" in shown
    assert "10.0 (100)" in shown


@pytest.mark.parametrize("words", [("games", *MODEL, "--revision", "r"), ("lmgame", "--policy", "expert")])
def test_the_harness_is_for_policies_at_sets_of_games(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse_arguments((*words, *BRIDGE, "--harness"))
    assert "--harness" in capsys.readouterr().err


def test_lmgame_is_six_games_of_the_bundled_suite() -> None:
    plan = build_plan(parse_arguments(("lmgame", *BRIDGE, "--policy", "expert", "--seeds", "3")))
    assert (plan.suite, plan.seeds) == ("games", 3)
    assert plan.names == LMGAME
    bundled = read_task_folders(Path("vm_bridge/suites/games")).keys()
    assert set(plan.names) <= bundled
