"""A flywheel plays its pool's tasks of the kinds worth playing, none of the gate's, and the same when resumed."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from annotation_app.errors import Invalid
from annotation_app.flywheel.programs import ProgramFailed
from annotation_app.flywheel.recipe import GateTrials
from annotation_app.flywheel.services.gate import trial_words
from annotation_app.flywheel.services.pool_tasks import write_pool_tasks
from annotation_app.tasks.models import Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory import tasks
from protocol.trajectory.mcp_servers import McpServer
from tests.integration.web.conftest import World


def bundled(seed: int) -> tasks.Task:
    return tasks.Task(id=f"games/maze-{seed}", instruction="Play.", suite="games", name="maze", seed=seed)


def test_the_pools_tasks_are_written_once_and_without_those_of_the_gate(world: World, tmp_path: Path) -> None:
    tasks_add(pool=world.pool, definitions=[bundled(3), bundled(100)])
    world.pool.mcp_servers = {"notes": McpServer(command="notes")}
    trials = GateTrials(world="bridge", suite="games", first_seed=100, seeds=4)
    target = tmp_path / "train" / "rl-tasks.jsonl"
    wanted = ("one", "two", "three", "games/maze-3")
    assert write_pool_tasks(world.pool, trials, ["fake/type", "games/maze"], target) == wanted
    servers = [
        line.parameters["mcp_servers"] for line in map(tasks.Task.model_validate_json, target.read_text().splitlines())
    ]
    assert servers == [{"notes": {"command": "notes", "args": [], "env": {}}}] * len(wanted)
    Task.objects.filter(pool=world.pool, key="one").delete()
    assert write_pool_tasks(world.pool, trials, ["fake/type"], target) == wanted


def test_a_cycle_sends_no_secret_where_its_rules_forbid_it(world: World, tmp_path: Path) -> None:
    world.pool.mcp_servers = {"notes": McpServer(command="notes", env={"NOTES_TOKEN": "secret:NOTES"})}
    trials = GateTrials(world="bridge", suite="games", first_seed=100, seeds=4)
    with pytest.raises(Invalid, match="The pool has no secret NOTES"):
        write_pool_tasks(world.pool, trials, ["fake/type"], tmp_path / "rl-tasks.jsonl")
    assert not (tmp_path / "rl-tasks.jsonl").exists()


def test_tasks_of_a_file_are_tried_at_the_gate_and_never_played(world: World, tmp_path: Path) -> None:
    source, target = tmp_path / "gate.jsonl", tmp_path / "rl-tasks.jsonl"
    source.write_text('{"id": "two", "instruction": "Play."}\n')
    trials = GateTrials(world="bridge", source=str(source), image="desktop")
    assert trial_words(trials) == ["--tasks", str(source), "--image", "desktop"]
    assert write_pool_tasks(world.pool, trials, ["fake/type"], target) == ("one", "three")
    source.unlink()
    target.unlink()
    with pytest.raises(ProgramFailed, match="invalid_source"):
        write_pool_tasks(world.pool, trials, ["fake/type"], target)
    for wrong in ({"suite": "games"}, {"size": "320x240"}, {"world": "toy"}):
        with pytest.raises(ValidationError):
            GateTrials.model_validate({"world": "bridge", "source": "tasks", **wrong})
