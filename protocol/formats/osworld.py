"""OSWorld's result folders: `task.json`, `traj.jsonl`, `result.txt` and a picture a step, named after the step and its
time.

A task that came from a file of OSWorld goes out as that file had it, its start state and its evaluator included; of any
other, `config` is empty and there is no evaluator, since no word of OSWorld's says how ours begin and are judged: what
does is under `pilothouse`.

Pictures keep the bytes and the type they have; where they are no PNG, their names say so.
"""

from collections.abc import Iterator
from typing import Any

from protocol.blobs import BlobRef
from protocol.formats.agentnet import step_code
from protocol.formats.records import ExportFormat, ExportOptions, Record, batch_fields
from protocol.formats.training_examples import to_json_line
from protocol.trajectory.export_folders import EXTENSIONS
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

OSWORLD_ACTIONS = {"finish": "DONE", "wait": "WAIT", "infeasible": "FAIL"}
"""OSWorld's own words; a call for the user is none of them and stands as AgentNet's code."""


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """The folder of one trajectory."""
    active = without_undone_steps(trajectory)
    reward = trajectory.verdict.score if trajectory.verdict else float(trajectory.outcome == "success")
    files: dict[str, bytes | BlobRef] = {}
    lines: list[str] = []
    images: list[BlobRef] = []
    for number, step in enumerate(active.steps, start=1):
        moment = f"{step.started_at:%Y%m%d@%H%M%S}"
        last = number == len(active.steps)
        screenshot_ref = step.after.screenshot if step.after else None
        name = f"step_{number}_{moment}.{EXTENSIONS[screenshot_ref.media_type]}" if screenshot_ref else None
        if screenshot_ref and name:
            images.append(screenshot_ref)
            files[f"{trajectory.id}/{name}"] = screenshot_ref
        lines.append(
            to_json_line(
                {
                    "step_num": number,
                    "action_timestamp": moment,
                    "action": OSWORLD_ACTIONS.get(step.action.kind) or step_code(step),
                    "response": step.thought,
                    "reward": reward if last else 0,
                    "done": last,
                    "info": {
                        "decision": step.decision,
                        "actor": step.actor,
                        "variant": trajectory.variant,
                        **batch_fields(step),
                    },
                    "screenshot_file": name,
                }
            )
        )
    files[f"{trajectory.id}/task.json"] = f"{to_json_line(osworld_task(trajectory.task))}\n".encode()
    files[f"{trajectory.id}/traj.jsonl"] = "".join(f"{one}\n" for one in lines).encode()
    files[f"{trajectory.id}/result.txt"] = f"{reward:g}\n".encode()
    yield Record(trajectory.id, tuple(images), files=files, steps=len(active.steps))


def osworld_task(task: Task) -> dict[str, Any]:
    """A task in OSWorld's words, as far as they reach."""
    original = task.parameters.get("osworld")
    own: dict[str, Any] = {"snapshot": task.suite or "", "source": "pilothouse", "config": [], "related_apps": []}
    if isinstance(original, dict):
        own |= original
    else:
        own["pilothouse"] = task.model_dump(mode="json")
    return {"id": task.id, "instruction": task.instruction, **own}


FORMAT = ExportFormat("osworld", "folders", records, relative_points=True)
