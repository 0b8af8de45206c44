"""A task program of OSWorld 2.0 on our own desktop: set up, judged in parts, and kept apart from outages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import RunCommand
from protocol.benchmarks.task_programs import program_task
from protocol.trajectory.tasks import Task
from tests.integration.osworld.evaluator_settings import means_ensured
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.errors import UnsupportedTask, VerifierFailed
from vm_bridge.hosts import process_sandbox
from vm_bridge.hosts.local.application_sandbox import ApplicationSandbox
from vm_bridge.hosts.local.host import LocalHost

pytestmark = pytest.mark.timeout(900)  # the first one installs OSWorld's package
PROGRAM = """
from desktop_env.evaluators import getters
from desktop_env.task_base import BaseTask
{imports}

class Boats(BaseTask):
    id = "boats"
    instruction = "Write the numbers of list.txt, sorted, into sorted.txt and their sum into sum.txt."
    related_apps = ["os"]

    def setup(self, setup_controller, use_proxy=False):
        self.total = 6
        setup_controller.execute(["sh", "-c", "printf '3\\\\n1\\\\n2\\\\n' > ~/list.txt"])

    def evaluate(self, env):
        def said(name):
            return getters.get_vm_command_line(env, {{"command": f"cat ~/{{name}}", "shell": True}}) or ""
        parts = [0.1] * 7 * (said("sorted.txt").split() == ["1", "2", "3"])
        parts += [0.1] * 3 * (said("sum.txt").strip() == str(self.total))
        {judged}
        return {{"score": sum(parts), "parts": len(parts)}}

TASK_CLASS = Boats
"""
ASKED = "from desktop_env.evaluators.model_client import generate_text"
SWALLOWED = """try:
            generate_text("Is it so?")
        except Exception:
            parts = []"""


def task(imports: str = "", judged: str = "pass") -> Task:
    made = program_task(PROGRAM.format(imports=imports, judged=judged), "task_boats", {})
    assert made is not None
    return made


@pytest_asyncio.fixture
async def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ApplicationSandbox]:
    monkeypatch.setattr(process_sandbox, "missing_applications", lambda manifest: ())
    host = LocalHost(tmp_path / "data", evaluator=means_ensured())
    made = await host.create(APPLICATIONS_IMAGE)
    assert isinstance(made, ApplicationSandbox)
    yield made
    await host.close()


async def test_nothing_scores_0_a_part_its_share_and_the_whole_1(sandbox: ApplicationSandbox) -> None:
    machine = sandbox.bind(1)
    await machine.prepare(task())
    assert (await machine.evaluate(answer="score: 1")).score == 0, "claims count nothing"
    await machine.perform("sort", RunCommand(command="sort list.txt > sorted.txt"))
    verdict = await machine.evaluate()
    assert (verdict.success, verdict.score) == (False, 0.7)
    assert '"parts": 7' in verdict.reason
    await machine.perform("sum", RunCommand(command="echo 6 > sum.txt"))
    assert (await machine.evaluate()).success is True, "what setup kept on the task is there, and ten tenths are 1"


async def test_a_judging_model_is_needed_by_name_and_its_outage_is_no_0(sandbox: ApplicationSandbox) -> None:
    judged = task(ASKED, SWALLOWED)
    with pytest.raises(UnsupportedTask, match="judge_needed"):
        await sandbox.bind(1).prepare(judged)
    services = {"OSWORLD_EVAL_MODEL_BASE_URL": "http://judge.invalid/v1", "OSWORLD_EVAL_MODEL_NAME": "some"}
    sandbox.evaluator._settings = means_ensured(services=services)
    machine = sandbox.bind(2)
    await machine.prepare(judged)
    with pytest.raises(VerifierFailed, match="judge_unreachable"):
        await machine.evaluate()
