"""Every bundled terminal task on a real machine without a screen: what solves it, and that nothing else does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import TypeAdapter

import annotation_app.demo
from agent_backend.scripted.__main__ import TERMINAL
from agent_backend.scripted.script import Script, scripts_load
from vm_bridge.hosts.local import LocalHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites.bundled import SUITES, suite_named
from vocabulary.actions import Finish
from vocabulary.tasks import Task

SCRIPTS = {script.task: script for script in scripts_load(TERMINAL)}
DEMO = Path(annotation_app.demo.__file__).with_name("terminal.json")
TASKS = {task.name: task for task in suite_named("terminal").tasks}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def terminal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    host = LocalHost(Path(tmp_path_factory.mktemp("host")), SUITES)
    yield await host.create("terminal")
    await host.close()


def test_every_task_has_a_script_with_its_very_instruction() -> None:
    assert {name: task.instruction for name, task in TASKS.items()} == {
        name: script.instruction for name, script in SCRIPTS.items()
    }


def test_the_demo_loads_these_very_tasks() -> None:
    assert TypeAdapter(tuple[Task, ...]).validate_json(DEMO.read_bytes()) == suite_named("terminal").tasks


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=lambda script: script.task)
async def test_right_lines_solve_the_task_and_only_they(terminal: Sandbox, script: Script) -> None:
    """The start state is no solution; the script's lines that are no mistakes are one."""
    machine = terminal.bind(1)
    seen = await machine.prepare(TASKS[script.task])
    assert (seen.screenshot, seen.width, seen.height) == (None, 0, 0)
    assert (await machine.evaluate()).success is False
    answer = ""
    for index, stage in enumerate(script.stages):
        action = next(line.action for line in stage.lines if not line.mistake)
        if isinstance(action, Finish):
            answer = action.answer
            break
        transition = await machine.perform(f"{script.task}-{index}", action)
        assert transition.error is None
        assert transition.after.text is not None, "the text stands in the picture's place"
    verdict = await machine.evaluate(answer=answer)
    assert (verdict.success, verdict.score, verdict.reason) == (True, 1.0, "")
