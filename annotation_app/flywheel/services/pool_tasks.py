"""The tasks of the pool that a flywheel plays, as a file for rollouts."""

import os
from collections.abc import Sequence
from pathlib import Path

import protocol.trajectory.tasks
from annotation_app.flywheel.evaluation import gate_task_ids
from annotation_app.flywheel.recipe import GateTrials, Recipe
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.selectors import server_secrets_check
from protocol.trajectory.mcp_servers import add_mcp_servers
from protocol.trajectory.tasks import task_kind


def played_pool(recipe: Recipe, own: Pool) -> Pool | None:
    """The pool that a recipe plays, by default the flywheel's own; None if no pool has the name."""
    play = recipe.rl.play if recipe.rl else None
    return Pool.objects.filter(name=play.pool).first() if play is not None and play.pool else own


def write_pool_tasks(pool: Pool, trials: GateTrials, kinds: Sequence[str], target: Path) -> tuple[str, ...]:
    """Write the pool's tasks of these kinds, without those of the gate, one per line. Returns their ids.

    An existing file is read instead, so that a resumed cycle plays the tasks that it began with.

    Raises Invalid if a task's MCP server requests a secret that it may not use.
    """
    if not target.exists():
        wanted, held = set(kinds), gate_task_ids(trials)
        rows = Task.objects.filter(pool=pool).order_by("id")
        servers = pool.mcp_servers or {}
        tasks = [
            task
            for task in (add_mcp_servers(row.definition, servers) for row in rows.iterator())
            if task_kind(task) in wanted and not trials.holds(task.suite, task.seed) and task.id not in held
        ]
        server_secrets_check(tasks, pool=pool.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(target.name + ".part")
        aside.write_text("".join(f"{task.model_dump_json()}\n" for task in tasks))
        os.replace(aside, target)
    parsed = map(protocol.trajectory.tasks.Task.model_validate_json, target.read_text().splitlines())
    return tuple(task.id for task in parsed)
