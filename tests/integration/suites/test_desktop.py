"""Every bundled desktop task on a real desktop: what solves it, and that nothing else does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import TypeAdapter

import annotation_app.demo
from agent_backend.scripted.__main__ import DESKTOP
from agent_backend.scripted.script import Script, scripts_load
from vm_bridge.errors import UnknownTask
from vm_bridge.hosts.local import LocalHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites.bundled import SUITES, suite_named
from vocabulary.actions import Finish
from vocabulary.tasks import Task

SCRIPTS = {script.task: script for script in scripts_load(DESKTOP)}
DEMO = Path(annotation_app.demo.__file__).with_name("tasks.json")
TASKS = {task.name: task for task in suite_named("desktop").tasks}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desktop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    host = LocalHost(Path(tmp_path_factory.mktemp("host")), SUITES)
    yield await host.create("desktop")
    await host.close()


def test_every_task_has_a_script_with_its_very_instruction() -> None:
    assert {name: task.instruction for name, task in TASKS.items()} == {
        name: script.instruction for name, script in SCRIPTS.items()
    }


def test_the_demo_loads_these_very_tasks() -> None:
    loaded = TypeAdapter(tuple[Task, ...]).validate_json(DEMO.read_bytes())
    assert loaded == suite_named("desktop").tasks


def test_an_unknown_suite_is_refused() -> None:
    with pytest.raises(UnknownTask):
        suite_named("../desktop")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=lambda script: script.task)
async def test_right_lines_solve_the_task_and_only_they(desktop: Sandbox, script: Script) -> None:
    """The start state is no solution; the script's lines that are no mistakes are one."""
    machine = desktop.bind(1)
    await machine.prepare(TASKS[script.task])
    assert (await machine.evaluate()).success is False
    answer = ""
    for index, stage in enumerate(script.stages):
        action = next(line.action for line in stage.lines if not line.mistake)
        if isinstance(action, Finish):
            answer = action.answer
            break
        transition = await machine.perform(f"{script.task}-{index}", action)
        assert transition.error is None
    verdict = await machine.evaluate(answer=answer)
    assert (verdict.success, verdict.score, verdict.reason) == (True, 1.0, "")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_task_nobody_knows_is_refused_and_the_machine_lives_on(desktop: Sandbox) -> None:
    machine = desktop.bind(1)
    with pytest.raises(UnknownTask):
        await machine.prepare(Task(id="x", instruction="x", suite="desktop", name="../../etc"))
    assert (await machine.observe()).screenshot is not None
