"""The phone tasks' scripts on the simulated phone itself, over adb: the way a policy and a person go."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_backend.scripted_policy.__main__ import PHONE
from agent_backend.scripted_policy.script import Script, load_scripts
from protocol.actions.types import Finish
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites.phone.suite import make_task
from vm_bridge.suites.registry import SUITES

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(shutil.which("adb") is None, reason="needs adb"),
]
SCRIPTS = load_scripts(PHONE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def simulator(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    data = Path(tmp_path_factory.mktemp("host"))
    host = PhoneHost(LocalHost(data, SUITES), data, SUITES)
    phone = await host.create("phone")
    yield phone
    await phone.destroy()
    await host.close()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.task)
async def test_right_lines_solve_the_task_and_only_they(simulator: Sandbox, script: Script) -> None:
    machine = simulator.bind(1)
    seen = await machine.prepare(make_task(script.task))
    assert (seen.width, seen.height) == (script.screen.width, script.screen.height)
    assert (await machine.evaluate()).success is False
    answer = ""
    for index, stage in enumerate(script.stages):
        action = stage.lines[0].action
        if isinstance(action, Finish):
            answer = action.answer
            break
        transition = await machine.perform(f"{script.task}-{index}", action)
        assert transition.error is None
    verdict = await machine.evaluate(answer=answer)
    assert (verdict.success, verdict.reason) == (True, "")
