"""The wheel turned once from the command line: a real database, trainer and policy server, and a turner that is killed
in the middle of training and goes on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import NANO_CHECKPOINT, ROOT
from annotation_app.operations.runtime.temporary_platform import temporary_platform
from protocol.evaluation.reports import Evaluation
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_000), pytest.mark.xdist_group("servers")]

WITHIN = 1_500

JUDGED = """
from django.conf import settings
from agent_backend.scripted_policy.judge import JUDGE_MODEL
from annotation_app.accounts.models import User
from annotation_app.judges.models import Judge
from annotation_app.judges.services import pool_judge_set
from annotation_app.tasks.models import Pool
judge = Judge.objects.create(
    name="orm", revision="1", kind="outcome_model", base_url=settings.ENV.scripted_url, model=JUDGE_MODEL, scripted=True
)
admin, pool = User.objects.get(username="admin"), Pool.objects.get(name="Small screens")
pool_judge_set(user=admin, pool_id=pool.pk, judge_id=judge.pk, threshold=0.5)
"""
"""The scripted judge judges in the pool."""
KNOWN = """
import json
from annotation_app.flywheel.models import Sample, Stage
grounds = [sample.grounds.model_dump(mode="json") for sample in Sample.objects.all()]
print(json.dumps([Stage.objects.get(name="check").result, grounds]))
"""
"""What the wheel came to know of its samples."""


def wheel(data: Path) -> "subprocess.Popen[str]":
    words = ["-m", "annotation_app.operations", "flywheel", "--cycles", "1", "--toy", "--data", str(data)]
    return subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def turner(folder: Path) -> int | None:
    """The process that turns what is in this folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"run_flywheel" in (process / "cmdline").read_bytes():
                environment = (process / "environ").read_bytes().split(b"\0")
                if f"PILOTHOUSE_DATA={folder.absolute()}".encode() in environment:
                    return int(process.name)
    return None


def updates(folder: Path, phase: str) -> list[int]:
    logs = list(folder.glob(f"flywheel/*/train/{phase}/log.jsonl"))
    lines = logs[0].read_text().splitlines(keepends=True) if logs else []
    return [json.loads(line)["update"] for line in lines if line.endswith("\n")]


def test_a_turn_that_was_killed_while_it_trained_goes_on_to_its_end(tmp_path: Path) -> None:
    first = wheel(tmp_path)
    try:
        wait_until(lambda: len(updates(tmp_path, "sft")) > 10 or first.poll() is not None, limit=WITHIN)
        pid = turner(tmp_path)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        said, _ = first.communicate(timeout=WITHIN)
        assert first.returncode == 1, said
    finally:
        first.kill()
        first.wait()
    second = wheel(tmp_path)
    try:
        said, _ = second.communicate(timeout=WITHIN)
    finally:
        second.kill()
        second.wait()
    assert second.returncode == 0, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("Cycle 1: sft "), last
    assert "small-0001" in last
    assert "gate passed" in last or "gate shut" in last
    assert updates(tmp_path, "sft") == list(range(1, 31)), "no update was learned twice, and none is missing"
    assert updates(tmp_path, "rl") in ([], [1, 2, 3, 4])


def test_what_people_corrected_on_live_pages_teaches_the_bundled_policy(tmp_path: Path) -> None:
    """A whole turn over real browsers: what the desk stored is done again, judged and learned from, the candidate is
    served and tried beside the active policy, and registered. How much better it gets is no matter of a test."""
    recipe = {
        "policy": "nano",
        "start": str(NANO_CHECKPOINT),
        "replay": True,
        "judge": True,
        "sft": {
            "by": "nano",
            "updates": 3,
            "shares": {"fresh": 1, "earlier": 0, "general": 0},
            "settings": {"batch": 4, "ahead": 0, "shown": 1.0},
        },
        "rl": {
            "algorithm": "ppo",
            "updates": 2,
            "between": [0, 1],
            "play": {"suite": "drills", "pages": 4, "seeds": 1, "parallel": 2, "size": "320x240", "ahead": 0},
            "settings": {"learning_rate": 1e-5, "warmup": 1, "tokens": 2048, "vision": True, "value_updates": 0},
        },
        "trials": {
            "world": "bridge",
            "suite": "drills",
            "tasks": ["press", "tabs"],
            "first_seed": 100,
            "seeds": 2,
            "parallel": 2,
            "size": "320x240",
        },
    }
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    with temporary_platform(tmp_path / "p", nano=True) as whole:
        annotator = [
            sys.executable,
            "-m",
            "agent_backend.simulated_annotator",
            "--web",
            whole.url,
            "--user",
            "annotator",
        ]
        annotator += [
            "--bridge",
            whole.environment["PILOTHOUSE_BRIDGE_URL"],
            "--pool",
            "Small screens",
            "--episodes",
            "4",
            "--aim",
            "10",
        ]
        given = {**os.environ, **whole.environment, "PILOTHOUSE_PASSWORD": "annotator-demo"}
        done = subprocess.run(annotator, cwd=ROOT, env=given, capture_output=True, text=True, timeout=WITHIN)
        assert done.returncode == 0, done.stderr
        whole.manage("shell", "-v", "0", "-c", JUDGED)
        whole.manage(
            "configure_flywheel", "admin", "main", "--pool", "Small screens", "--recipe", str(tmp_path / "recipe.json")
        )
        turn = [sys.executable, str(ROOT / "manage.py"), "run_flywheel", "--skip-checks", "main"]
        told = subprocess.run(turn, cwd=ROOT, env=given, capture_output=True, text=True, timeout=WITHIN)
        assert told.returncode == 0, told.stdout + told.stderr
        folder = next((tmp_path / "p" / "flywheel").iterdir())
        report = Evaluation.model_validate_json((folder / "trials" / "report.json").read_bytes())
        assert (report.attempts, {policy.revision for policy in report.policies}) == (4, {"main-0001"})
        assert report.comparison is not None
        assert {change.name for change in report.comparison.tasks} == {"press", "tabs"}
        assert "main-0001" in told.stdout.strip().splitlines()[-1]
        drawn = {
            span["version"]
            for lines in (folder / "train" / "rl-inbox").rglob("trajectories.jsonl")
            for line in lines.read_text().splitlines()
            for candidates in json.loads(line)["proposals"]
            for candidate in candidates
            for span in candidate["weight_versions"]
        }
        assert updates(tmp_path / "p", "rl") == [1, 2]
        assert drawn == {"update-000000", "update-000001"}, "the newest weights played, as the trainer made them"
        checked, grounds = json.loads(whole.manage("shell", "-v", "0", "-c", KNOWN))
        assert (checked["executable"], checked["unchecked"]) == (4, "")
        assert [each["verifier"] for each in grounds] == [True] * 4
        assert all(each["judge"] is not None for each in grounds), "the judge was asked about every one"
