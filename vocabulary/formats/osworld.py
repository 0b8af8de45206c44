"""OSWorld's result folders: `traj.jsonl`, `result.txt` and a picture a step, named after the step and its time.

Pictures keep the bytes and the type they have; where they are no PNG, their names say so.
"""

from collections.abc import Iterator

from vocabulary.blobs import BlobRef
from vocabulary.exports import EXTENSIONS
from vocabulary.formats.agentnet import code_of
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import line
from vocabulary.trajectories import Trajectory, trajectory_standing

DONE = {"finish": "DONE", "wait": "WAIT", "call_user": "FAIL"}


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
    files[f"{trajectory.id}/traj.jsonl"] = "".join(f"{one}\n" for one in lines).encode()
    files[f"{trajectory.id}/result.txt"] = f"{reward:g}\n".encode()
    yield Record(trajectory.id, tuple(images), files=files, steps=len(standing.steps))


FORMAT = Format("osworld", "folders", records)
