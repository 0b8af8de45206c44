"""OSWorld's result folders: `task.json`, `traj.jsonl`, `result.txt` and a picture a step, named after the step and its
time.

A task that came from a file of OSWorld goes out as that file had it, its start state and its evaluator included; of any
other, `config` is empty and there is no evaluator, since no word of OSWorld's says how ours begin and are judged: what
does is under `pilothouse`.

Pictures keep the bytes and the type they have; where they are no PNG, their names say so.
"""

from collections.abc import Iterator
from typing import Any

from vocabulary.blobs import BlobRef
from vocabulary.exports import EXTENSIONS
from vocabulary.formats.agentnet import code_of
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import line
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory, trajectory_standing

DONE = {"finish": "DONE", "wait": "WAIT", "infeasible": "FAIL"}
"""OSWorld's own words; a call for the user is none of them and stands as AgentNet's code."""


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """The folder of one trajectory."""
    standing = trajectory_standing(trajectory)
    reward = trajectory.verdict.score if trajectory.verdict else float(trajectory.outcome == "success")
    files: dict[str, bytes | BlobRef] = {}
    lines: list[str] = []
    images: list[BlobRef] = []
    for number, step in enumerate(standing.steps, start=1):
        moment = f"{step.started_at:%Y%m%d@%H%M%S}"
        last = number == len(standing.steps)
        shown = step.after.screenshot if step.after else None
        name = f"step_{number}_{moment}.{EXTENSIONS[shown.media_type]}" if shown else None
        if shown and name:
            images.append(shown)
            files[f"{trajectory.id}/{name}"] = shown
        lines.append(
            line(
                {
                    "step_num": number,
                    "action_timestamp": moment,
                    "action": DONE.get(step.action.kind) or code_of(step),
                    "response": step.thought,
                    "reward": reward if last else 0,
                    "done": last,
                    "info": {"decision": step.decision, "actor": step.actor},
                    "screenshot_file": name,
                }
            )
        )
    files[f"{trajectory.id}/task.json"] = f"{line(task_of(trajectory.task))}\n".encode()
    files[f"{trajectory.id}/traj.jsonl"] = "".join(f"{one}\n" for one in lines).encode()
    files[f"{trajectory.id}/result.txt"] = f"{reward:g}\n".encode()
    yield Record(trajectory.id, tuple(images), files=files, steps=len(standing.steps))


def task_of(task: Task) -> dict[str, Any]:
    """A task in OSWorld's words, as far as they reach."""
    theirs = task.parameters.get("osworld")
    own: dict[str, Any] = {"snapshot": task.suite or "", "source": "pilothouse", "config": [], "related_apps": []}
    if isinstance(theirs, dict):
        own |= theirs
    else:
        own["pilothouse"] = task.model_dump(mode="json")
    return {"id": task.id, "instruction": task.instruction, **own}


FORMAT = Format("osworld", "folders", records, shares=True)
