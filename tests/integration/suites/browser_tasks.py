"""Writes the demo's browser tasks from their suites: `python -m tests.integration.suites.browser_tasks`."""

from pathlib import Path

from pydantic import TypeAdapter

import annotation_app.demo
from vm_bridge.suites.bundled import WEB_SUITES
from vm_bridge.suites.web import GAMES, SITES
from vocabulary.tasks import Task

TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
DEMO = Path(annotation_app.demo.__file__).with_name("browser.json")
SMALL_SIZE = (320, 240)
SMALL = ("2048", "snake", "sokoban", "sliding", "minesweeper", "lights", "memory", "maze", "pipes", "tubes")
"""Games that are offered at a small screen too; all of them say that they fit."""


def tasks() -> tuple[Task, ...]:
    """Every bundled task as it is; the next level in Chinese where there is one; some games small; mail with a file to
    attach, in both languages; all of MiniWoB++."""
    own = [
        suite.make(task.name or "", seed=3, level=2, language="zh") for suite in (GAMES, SITES) for task in suite.tasks
    ]
    small = [GAMES.make(name, seed=5, size=SMALL_SIZE) for name in SMALL]
    files = (SITES.make("mail", level=4), SITES.make("mail", seed=3, level=4, language="zh"))
    return (*GAMES.tasks, *SITES.tasks, *own, *small, *files, *WEB_SUITES["miniwob"].tasks)


if __name__ == "__main__":
    DEMO.write_bytes(TASKS.dump_json(tasks(), indent=1) + b"\n")
