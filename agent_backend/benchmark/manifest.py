"""The manifest of a benchmark run: made before the first attempt, and checked whenever the run is resumed."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from agent_backend.errors import AgentError
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.task_sources import tasks_checksum
from agent_backend.trajectory_folders import write_atomically
from protocol import __version__
from protocol.evaluation.benchmarks import BenchmarkManifest, PinnedTask
from protocol.trajectory.tasks import Task

MANIFEST_FILE, RESULT_FILE, ATTEMPTS_FOLDER = "manifest.json", "result.json", "attempts"
POLICY_FIELDS = frozenset({"policy", "sampling", "memory", "harness", "source"})
"""Fields of a plan that may differ between runs of the same benchmark. A source is identified by its checksum."""
TASK_SETS = {"lmgame": ("games", ("sokoban", "tetris", "2048", "match3", "platformer", "courtroom"))}
"""Benchmarks that are some tasks of a bundled suite: the suite and their names.

`lmgame` has a game of ours for each of the six titles of LMGame-Bench (arXiv 2505.15146): Sokoban, Tetris, 2048, Candy
Crush, Super Mario Bros and Ace Attorney.
"""
HEAD_FILE = Path(__file__).parents[2] / ".git" / "HEAD"


class ManifestMismatch(AgentError):
    """The tasks or settings of a run differ from its manifest."""

    code = "manifest_mismatch"


class InvalidManifest(AgentError):
    """A file is not a manifest of a run."""

    code = "invalid_manifest"


def make_manifest(name: str, plan: RolloutPlan, tasks: Sequence[Task]) -> BenchmarkManifest:
    """Pin a run that begins now."""
    return BenchmarkManifest(
        name=name,
        created_at=datetime.now(UTC),
        plan=plan.record(),
        tasks=tuple(PinnedTask(id=task.id, sha256=tasks_checksum((task,))) for task in tasks),
        tasks_sha256=tasks_checksum(tasks),
        images=tuple(sorted({plan.image_of(task) for task in tasks})),
        harness=plan.harness is not None,
        software=_software(),
    )


def read_manifest_file(path: Path) -> BenchmarkManifest:
    """A manifest, of a run or on its own. Raises InvalidManifest."""
    try:
        return BenchmarkManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidManifest(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise InvalidManifest(f"{path} is no manifest: {error.errors()[0]['msg']}") from None


def read_plan(manifest: BenchmarkManifest) -> RolloutPlan:
    """How the attempts of a run are made. Raises InvalidManifest."""
    try:
        return RolloutPlan.model_validate_json(json.dumps(manifest.plan))
    except ValidationError as error:
        raise InvalidManifest(f"the plan of the manifest cannot be read: {error.errors()[0]['msg']}") from None


def pin(run: Path, manifest: BenchmarkManifest) -> BenchmarkManifest:
    """The manifest that the run began with. A new run writes this one. Raises InvalidManifest, and ManifestMismatch if
    the run began with other settings."""
    path = run / MANIFEST_FILE
    if path.exists():
        begun = read_manifest_file(path)
        check_same_tasks(begun, manifest)
        if begun.plan != manifest.plan:
            raise ManifestMismatch(f"{run} began with other options; give another folder with --out")
        return begun
    run.mkdir(parents=True, exist_ok=True)
    write_atomically(path, manifest.model_dump_json(indent=1).encode() + b"\n")
    return manifest


def check_same_tasks(pinned: BenchmarkManifest, present: BenchmarkManifest) -> None:
    """Raises ManifestMismatch if the current tasks differ from the pinned ones; the message names the first
    difference."""
    now = {task.id: task.sha256 for task in present.tasks}
    for task in pinned.tasks:
        if task.id not in now:
            raise ManifestMismatch(f"the task {task.id} of the manifest is not there")
        if now[task.id] != task.sha256:
            raise ManifestMismatch(f"the task {task.id} was changed after the manifest was made")
    if pinned.tasks_sha256 != present.tasks_sha256:
        raise ManifestMismatch(
            f"there are {len(now)} tasks, or in another order, where the manifest has {len(pinned.tasks)}"
        )
    if differing := [
        name for name, value in pinned.plan.items() if name not in POLICY_FIELDS and present.plan.get(name) != value
    ]:
        raise ManifestMismatch(f"the manifest has another {', '.join(sorted(differing))}")


def _software() -> str:
    """The version, and the commit of a checkout."""
    return f"{__version__}+{commit[:12]}" if (commit := _commit()) else __version__


def _commit() -> str:
    try:
        head = HEAD_FILE.read_text().strip()
        reference = head.removeprefix("ref: ")
        return head if reference == head else (HEAD_FILE.parent / reference).read_text().strip()
    except OSError:
        return ""


def verifiers_checksum(judged: Sequence[tuple[str, str, str]]) -> str:
    """The sha256 of the names, versions and checksums of all verifiers that judged, each once."""
    lines = sorted({"\0".join(each) for each in judged})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
