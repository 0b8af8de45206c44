"""Tasks of our own in OSWorld's form: `python -m benchmarks.parts.applications.own_tasks FOLDER` writes them.

Each has a start state, an evaluator of OSWorld's package, and a recorded solution by keys. Texts and files are ours.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocol.benchmarks.forms import ORACLES_FOLDER

Act = Mapping[str, Any]
Step = Mapping[str, Any]
HOME = "/home/user"
FILES_FOLDER = "files"
"""Beside the task files: what their `upload_file` steps bring into the desktop."""
WINDOW_SECONDS = 90
"""Longest that an application's window may take to appear."""


@dataclass(frozen=True)
class OwnTask:
    """One task; `files` are by their path in the home folder, and `window` is what its application's title holds."""

    id: str
    application: str
    instruction: str
    evaluator: Mapping[str, Any]
    oracle: Sequence[Act]
    files: Mapping[str, bytes] = field(default_factory=dict)
    launch: Sequence[str] = ()
    window: str = ""
    steps: Sequence[Step] = ()
    """What is done beside, after the window is there."""

    def task_file(self) -> dict[str, Any]:
        """The task as OSWorld writes it."""
        config: list[Step] = []
        if self.files:
            brought = [{"local_path": self.stored(path), "path": f"{HOME}/{path}"} for path in self.files]
            config.append({"type": "upload_file", "parameters": {"files": brought}})
        if self.launch:
            config += shown(self.launch, self.window)
        config += self.steps
        return {
            "id": self.id,
            "snapshot": self.application,
            "instruction": self.instruction,
            "source": "own",
            "config": config,
            "related_apps": [self.application],
            "evaluator": dict(self.evaluator),
        }

    def stored(self, path: str) -> str:
        """What a file is called beside the task files."""
        return f"{self.id}-{path.rpartition('/')[2]}"


def shown(launch: Sequence[str], window: str) -> list[Step]:
    """The steps that start an application and wait for its window."""
    verified = {"window_exists": window}
    waiting = {"command": ["true"], "verification": verified, "max_wait_time": WINDOW_SECONDS, "check_interval": 0.3}
    return [
        {"type": "launch", "parameters": {"command": list(launch)}},
        {"type": "execute_with_verification", "parameters": waiting},
        {"type": "activate_window", "parameters": {"window_name": window}},
    ]


def keys(*names: str) -> Act:
    """Keys pressed together."""
    return {"kind": "press_keys", "keys": list(names)}


def typed(text: str) -> Act:
    """A text, key by key."""
    return {"kind": "type_text", "text": text}


def wait(seconds: float) -> Act:
    """Time for a program to write its file."""
    return {"kind": "wait", "seconds": seconds}


def file_of(path: str) -> dict[str, Any]:
    """The getter of a file of the desktop."""
    return {"type": "vm_file", "path": f"{HOME}/{path}", "dest": path.rpartition("/")[2]}


def rule(**rules: Any) -> dict[str, Any]:
    """The getter of what is expected."""
    return {"type": "rule", "rules": rules}


def printed(command: str, **rules: Any) -> dict[str, Any]:
    """An evaluator of what a command prints there: texts to `include` and to `exclude`, or the `expected` one."""
    func = "exact_match" if "expected" in rules else "check_include_exclude"
    return {
        "func": func,
        "result": {"type": "vm_command_line", "command": command, "shell": True},
        "expected": rule(**rules),
    }


def write_tasks(folder: Path, tasks: Sequence[OwnTask]) -> Path:
    """Write task files, their solutions and what they bring along: a folder for `./pilothouse osworld table`."""
    for name in (ORACLES_FOLDER, FILES_FOLDER):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for task in tasks:
        (folder / f"{task.id}.json").write_text(json.dumps(task.task_file(), indent=1, ensure_ascii=False))
        acts = "".join(json.dumps(act, ensure_ascii=False) + "\n" for act in task.oracle)
        (folder / ORACLES_FOLDER / f"{task.id}.jsonl").write_text(acts)
        for path, data in task.files.items():
            (folder / FILES_FOLDER / task.stored(path)).write_bytes(data)
    return folder


def main() -> None:
    """Write all of them into the folder that is named."""
    from benchmarks.parts.applications.task_list import OWN_TASKS

    write_tasks(Path(sys.argv[1]), OWN_TASKS)


if __name__ == "__main__":
    main()
