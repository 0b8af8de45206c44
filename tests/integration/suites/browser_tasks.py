"""Writes the demo's browser tasks from their suites: `python -m tests.integration.suites.browser_tasks`."""

from pathlib import Path

from pydantic import TypeAdapter

import annotation_app.demo
from protocol.trajectory.tasks import Task
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web import DRILLS, GAMES, SITES

TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
DEMO = Path(annotation_app.demo.__file__).with_name("browser.json")
NANO = DEMO.with_name("small.json")
NANO_TASKS = (
    *("click-test-2", "click-button", "click-dialog-2", "click-tab", "click-collapsible", "focus-text"),
    *("circle-center", "click-widget", "click-option", "click-checkboxes", "identify-shape", "enter-text"),
)
"""What the bundled policy was taught, well or not."""
NANO_SIZE, NANO_SEEDS = (160, 210), (1, 2)
"""MiniWoB++'s own size; none of the policy's training."""
SMALL_SIZE = (320, 240)
DRILL_SEEDS = (1, 2)
SMALL = ("2048", "snake", "sokoban", "sliding", "minesweeper", "lights", "memory", "maze", "pipes", "tubes")
"""Games that are offered at a small screen too; all of them say that they fit."""


def tasks() -> tuple[Task, ...]:
    """Every bundled task as it is; the next level in Chinese where there is one; some games small; mail with a file to
    attach, in both languages; all of MiniWoB++."""
    own = [
        suite.make(task.name or "", seed=3, level=2, language="zh")
        for suite in (GAMES, SITES, DRILLS)
        for task in suite.tasks
    ]
    small = [GAMES.make(name, seed=5, size=SMALL_SIZE) for name in SMALL]
    files = (SITES.make("mail", level=4), SITES.make("mail", seed=3, level=4, language="zh"))
    return (*GAMES.tasks, *SITES.tasks, *DRILLS.tasks, *own, *small, *files, *WEB_SUITES["miniwob"].tasks)


def nano_tasks() -> tuple[Task, ...]:
    """The pool of the bundled policy: every drill once before any comes again, then tasks of MiniWoB++."""
    suite = WEB_SUITES["miniwob"]
    drills = [DRILLS.make(name, seed=seed, size=SMALL_SIZE) for seed in DRILL_SEEDS for name in DRILLS.folders]
    return (*drills, *(suite.make(name, seed=seed, size=NANO_SIZE) for seed in NANO_SEEDS for name in NANO_TASKS))


if __name__ == "__main__":
    NANO.write_bytes(TASKS.dump_json(nano_tasks(), indent=1) + b"\n")
    DEMO.write_bytes(TASKS.dump_json(tasks(), indent=1) + b"\n")
