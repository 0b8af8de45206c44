"""Tries task files on one machine: their set-up, doing nothing, and their solution."""

import asyncio
import time
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Literal

from protocol.actions.types import INFEASIBLE_ANSWER, Action
from protocol.base import FrozenModel
from protocol.benchmarks.forms import oracle_actions
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE, INFEASIBLE, TaskFile, parse_task_file
from vm_bridge.errors import BridgeError, UnsupportedTask, VerifierFailed
from vm_bridge.machine import Machine
from vm_bridge.osworld_table.task_folder import FoundTask
from vm_bridge.sandbox import Host, Sandbox

ATTEMPT_SECONDS = 900.0
"""Longest that everything about one task may take."""
MAX_REASON = 500
"""Characters."""
Outcome = Literal[
    "holds",
    "application_missing",
    "judge_needed",
    "services_needed",
    "unsupported",
    "set_up_failed",
    "unjudged",
    "noop_scores",
    "no_oracle",
    "oracle_fails",
]
"""Status of a task: it is valid if its set-up passes, doing nothing scores 0 and its solution scores 1."""


REFUSALS = ("application_missing", "judge_needed", "services_needed")
"""Codes of refusals that are outcomes of their own."""


class TableRow(FrozenModel):
    """What came of one task file. Scores are from 0 to 1, None where nothing was judged."""

    id: str
    applications: tuple[str, ...]
    outcome: Outcome
    reason: str = ""
    set_up: bool = False
    noop: float | None = None
    oracle: float | None = None
    oracle_source: Literal["published", "recorded", "none"] = "none"
    seconds: float = 0.0


async def try_tasks(
    host: Host, tasks: Sequence[FoundTask], told: Callable[[TableRow], None], image: str = APPLICATIONS_IMAGE
) -> list[TableRow]:
    """A row per task, in order; `told` is called with each finished row. Raises NoMachine."""
    rows = list[TableRow]()
    sandbox: Sandbox | None = None
    for found in tasks:
        began = time.monotonic()
        if found.task is None:
            row = TableRow(id=found.name, applications=found.applications, outcome="unsupported", reason=found.problem)
        else:
            sandbox = sandbox or await host.create(image)
            row, usable = await _try_task(sandbox, found, found.task)
            if not usable:
                await sandbox.destroy()
                sandbox = None
        rows.append(row.model_copy(update={"seconds": round(time.monotonic() - began, 1)}))
        told(rows[-1])
    if sandbox is not None:
        await sandbox.destroy()
    return rows


async def _try_task(sandbox: Sandbox, found: FoundTask, task: Task) -> tuple[TableRow, bool]:
    """The row, and whether the sandbox can be used for the next task."""
    trial = _Trial(sandbox.bind(1), TableRow(id=found.name, applications=found.applications, outcome="set_up_failed"))
    usable = True
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            await trial.run(task)
    except UnsupportedTask as error:
        code = str(error).partition(":")[0]
        trial.note(outcome=code if code in REFUSALS else "unsupported", reason=str(error))
    except VerifierFailed as error:
        trial.note(outcome="unjudged", reason=str(error)[:MAX_REASON])
    except (BridgeError, TimeoutError) as error:
        trial.note(reason=(str(error) or f"it took longer than {ATTEMPT_SECONDS:g} s")[:MAX_REASON])
        usable = False
    return trial.row, usable


class _Trial:
    """One task on one machine; `row` says how far it came."""

    def __init__(self, machine: Machine, row: TableRow) -> None:
        self._machine, self.row = machine, row

    def note(self, **known: object) -> None:
        """Change the row."""
        self.row = self.row.model_copy(update=known)

    async def run(self, task: Task) -> None:
        """Everything about the task. Raises BridgeError."""
        file = parse_task_file(task)
        assert file is not None
        await self._machine.prepare(task)
        self.note(set_up=True, outcome="unjudged")
        noop = (await self._machine.evaluate()).score
        self.note(noop=noop)
        if noop != 0:
            self.note(outcome="noop_scores", reason=f"doing nothing scores {noop:g}")
            return
        acts, infeasible = oracle_actions(task), _is_infeasible(file)
        if not acts and not infeasible:
            self.note(outcome="no_oracle", reason="no solution is recorded")
            return
        self.note(outcome="oracle_fails", oracle_source="published" if infeasible else "recorded")
        if file.evaluator.before or file.program is not None:  # judging changed the desktop
            await self._machine.prepare(task)
        failed = await _play(self._machine, acts)
        score = (await self._machine.evaluate(answer=INFEASIBLE_ANSWER if infeasible else "")).score
        self.note(oracle=score, reason="" if score == 1 else failed or f"its solution scores {score:g}")
        if score == 1:
            self.note(outcome="holds")


async def _play(machine: Machine, acts: Sequence[Action]) -> str:
    """Do the acts in order; what failed, empty where nothing did."""
    for number, act in enumerate(acts, 1):
        done = await machine.perform(f"oracle-{token_hex(8)}", act)
        if done.error is not None:
            return f"act {number} of its solution ({act.kind}): {done.error.code}"
    return ""


def _is_infeasible(file: TaskFile) -> bool:
    """Whether the solution is to say that the task cannot be done, as its evaluator publishes."""
    return any(check.func == INFEASIBLE for check in file.evaluator.checks)
