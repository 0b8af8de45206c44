"""The tasks of a flywheel's pool as a file that rollouts play."""

import os
from collections.abc import Sequence
from pathlib import Path

import protocol.trajectory.tasks
from annotation_app.flywheel.evaluation import gate_task_ids
from annotation_app.flywheel.models import Turn
from annotation_app.tasks.models import Task
from annotation_app.tasks.selectors import server_secrets_check
from protocol.trajectory.mcp_servers import add_mcp_servers
from protocol.trajectory.tasks import task_kind


def write_pool_tasks(turn: Turn, kinds: Sequence[str], target: Path) -> tuple[str, ...]:
    """Write the pool's tasks of these kinds, but for those of the gate, a line each. Returns their ids.

    An existing file is read instead: a resumed cycle plays the tasks that it began with.

    Raises Invalid where a task's MCP server asks for a secret that it may not use.
    """
    if not target.exists():
        wanted, trials = set(kinds), turn.recipe.trials
        held = gate_task_ids(trials)
        rows = Task.objects.filter(pool=turn.wheel.pool_id).order_by("id")
        servers = turn.wheel.pool.mcp_servers or {}
        tasks = [
            task
            for task in (add_mcp_servers(row.definition, servers) for row in rows.iterator())
            if task_kind(task) in wanted and not trials.holds(task.suite, task.seed) and task.id not in held
        ]
        server_secrets_check(tasks, pool=turn.wheel.pool.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(target.name + ".part")
        aside.write_text("".join(f"{task.model_dump_json()}\n" for task in tasks))
        os.replace(aside, target)
    parsed = map(protocol.trajectory.tasks.Task.model_validate_json, target.read_text().splitlines())
    return tuple(task.id for task in parsed)
