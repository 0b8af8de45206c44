"""Tasks of our own in the form of OSWorld 2.0: programs with a `setup` and an `evaluate` that scores in parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.parts.applications.desktop_tasks import MAIL, PROGRAM
from benchmarks.parts.applications.own_tasks import FILES_FOLDER, HOME, OwnTask, write_tasks
from benchmarks.parts.applications.task_list import OWN_TASKS
from protocol.benchmarks.forms import ORACLES_FOLDER

BY_ID: Mapping[str, OwnTask] = {task.id: task for task in OWN_TASKS}
PROGRAM_TEXT = '''"""A task of our own in the form of OSWorld 2.0."""

import json

from desktop_env.evaluators import getters
from desktop_env.task_base import BaseTask

STEPS = json.loads({steps!r})
CHECKS = {checks!r}


class OwnTask(BaseTask):
    id = {identifier!r}
    instruction = {instruction!r}
    related_apps = [{application!r}]

    def setup(self, setup_controller, use_proxy=False):
        for step in STEPS:
            getattr(setup_controller, step["type"])(**step["parameters"])

    def evaluate(self, env):
        found = []
        for command, wanted in CHECKS:
            said = getters.get_vm_command_line(env, {{"command": command, "shell": True}})
            found.append(wanted in (said or ""))
        return {{"score": sum(found) / len(found), "parts": found}}


TASK_CLASS = OwnTask
'''


@dataclass(frozen=True)
class ProgramTask:
    """A task whose start state and solution are those of a task file of our own. Each check is a command and a text
    that it prints where its part is done; without any act none of them does."""

    base: str
    checks: Sequence[tuple[str, str]]

    @property
    def id(self) -> str:
        """The id of the task."""
        return f"program_{self.base}"

    def program(self) -> str:
        """Its text."""
        own = BY_ID[self.base]
        return PROGRAM_TEXT.format(
            steps=json.dumps(own.task_file()["config"]),
            checks=list(self.checks),
            identifier=self.id,
            instruction=own.instruction,
            application=own.application,
        )


SHEET = f"cd {HOME}/Documents && unzip -p sales.xlsx xl/worksheets/sheet1.xml"
PROGRAM_TASKS = (
    ProgramTask("calc_total", ((SHEET, "SUM(B2:B6)"), (SHEET, "<v>570</v>"))),
    ProgramTask("code_fix", ((f"cat {HOME}/{PROGRAM}", "width * height"), (f"python {HOME}/{PROGRAM}", "12"))),
    ProgramTask(
        "mail_draft",
        ((f"cat {MAIL}/Drafts'", "Subject: Two tickets"), (f"cat {MAIL}/Drafts'", "two tickets for Sunday.")),
    ),
    ProgramTask(
        "terminal_count",
        ((f"cat {HOME}/Desktop/kettles.txt", "2"), (f"wc -l < {HOME}/Desktop/kettles.txt", "1")),
    ),
)


def write_programs(folder: Path, tasks: Sequence[ProgramTask] = PROGRAM_TASKS) -> Path:
    """Write the programs, their solutions and what they bring along: a folder for `./pilothouse osworld table`."""
    write_tasks(folder, [BY_ID[task.base] for task in tasks])
    for task in tasks:
        (folder / f"{task.base}.json").unlink()
        (folder / ORACLES_FOLDER / f"{task.base}.jsonl").rename(folder / ORACLES_FOLDER / f"{task.id}.jsonl")
        (folder / f"{task.id}.py").write_text(task.program())
    assert (folder / FILES_FOLDER).is_dir()
    return folder
