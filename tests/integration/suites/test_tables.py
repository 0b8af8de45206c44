"""Every bundled task of the desktop and of the machine without a screen: what solves it, and that nothing else does."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import TypeAdapter

import annotation_app.demo
from agent_backend.scripted_policy.__main__ import DESKTOP, TERMINAL
from agent_backend.scripted_policy.script import Script, load_scripts
from protocol.actions.types import Finish
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnknownTask
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Machine
from vm_bridge.suites.registry import SUITES, get_suite

DEMO = Path(annotation_app.demo.__file__).parent


@dataclass(frozen=True)
class Bundle:
    """A suite, the scripts that solve its tasks, and the demo's copy of them."""

    suite: str
    scripts: tuple[Script, ...]
    demo: str

    def task(self, name: str) -> Task:
        return next(task for task in get_suite(self.suite).tasks if task.name == name)


BUNDLES = (
    Bundle("desktop", load_scripts(DESKTOP), "tasks.json"),
    Bundle("terminal", load_scripts(TERMINAL), "terminal.json"),
)
SOLVED = [(bundle, script) for bundle in BUNDLES for script in bundle.scripts]
MACHINES = pytest.mark.parametrize("machine", [bundle.suite for bundle in BUNDLES], indirect=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalHost]:
    host = LocalHost(Path(tmp_path_factory.mktemp("host")), SUITES)
    yield host
    await host.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def machine(request: pytest.FixtureRequest, host: LocalHost) -> AsyncIterator[Machine]:
    """One of the image named like the suite."""
    sandbox = await host.create(request.param)
    yield sandbox.bind(1)
    await sandbox.destroy()


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.suite)
def test_every_task_has_a_script_with_its_very_instruction(bundle: Bundle) -> None:
    assert {task.name: task.instruction for task in get_suite(bundle.suite).tasks} == {
        script.task: script.instruction for script in bundle.scripts
    }


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.suite)
def test_the_demo_loads_these_very_tasks(bundle: Bundle) -> None:
    loaded = TypeAdapter(tuple[Task, ...]).validate_json((DEMO / bundle.demo).read_bytes())
    assert loaded == get_suite(bundle.suite).tasks


def test_an_unknown_suite_is_refused() -> None:
    with pytest.raises(UnknownTask):
        get_suite("../desktop")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("machine", "bundle", "script"),
    [pytest.param(bundle.suite, bundle, script, id=f"{bundle.suite}-{script.task}") for bundle, script in SOLVED],
    indirect=["machine"],
)
async def test_right_lines_solve_the_task_and_only_they(machine: Machine, bundle: Bundle, script: Script) -> None:
    """The start state is no solution; the script's lines that are no mistakes are one."""
    await machine.prepare(bundle.task(script.task))
    assert (await machine.evaluate()).success is False
    answer = ""
    for index, stage in enumerate(script.stages):
        action = next(line.action for line in stage.lines if not line.mistake)
        if isinstance(action, Finish):
            answer = action.answer
            break
        transition = await machine.perform(f"{script.task}-{index}", action)
        assert transition.error is None
        assert transition.after.screenshot is not None or transition.after.text is not None
    verdict = await machine.evaluate(answer=answer)
    assert (verdict.success, verdict.score, verdict.reason) == (True, 1.0, "")


@MACHINES
@pytest.mark.asyncio(loop_scope="module")
async def test_a_task_nobody_knows_is_refused_and_the_machine_lives_on(machine: Machine) -> None:
    with pytest.raises(UnknownTask):
        await machine.prepare(Task(id="x", instruction="x", suite="desktop", name="../../etc"))
    seen = await machine.observe()
    assert seen.screenshot is not None or seen.text is not None
