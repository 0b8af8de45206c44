"""Task files of OSWorld on our own desktops, with a terminal in the applications' place."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import pytest_asyncio

from protocol.actions.types import RunCommand, TypeText
from protocol.trajectory.tasks import Task
from tests.integration.osworld.evaluator_settings import means_ensured
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.errors import MachineGone, StaleLease, UnsupportedTask
from vm_bridge.hosts import process_sandbox
from vm_bridge.hosts.local.application_sandbox import ApplicationSandbox
from vm_bridge.hosts.local.host import LocalHost

pytestmark = [
    pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc"),
    pytest.mark.timeout(900),  # the first one installs OSWorld's package
]
PRESSES = ["python", "-c", "import pyautogui; pyautogui.press('shift')"]
"""What PyAutoGUI refuses while the pointer is in a corner."""
SHOWN = {"window_exists": "Notes"}


def task(*config: dict[str, Any], apps: tuple[str, ...] = ("os",)) -> Task:
    evaluator = {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": "cat ~/Desktop/said.txt", "shell": True},
        "expected": {"type": "rule", "rules": {"expected": "42\n"}},
    }
    given = {"config": list(config), "evaluator": evaluator, "related_apps": list(apps)}
    return Task(id="one", instruction="Do.", parameters={"osworld": given})


def step(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"type": kind, "parameters": parameters}


@pytest.fixture
def files() -> Iterator[Path]:
    """What an operator gives."""
    folder = Path(mkdtemp())  # below the tests' own folder no other user finds it
    folder.chmod(0o755)
    (folder / "seven.txt").write_text("7\n")
    yield folder
    shutil.rmtree(folder)


@pytest_asyncio.fixture
async def sandbox(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ApplicationSandbox]:
    """A desktop whose host takes it that every application is there."""
    monkeypatch.setattr(process_sandbox, "missing_applications", lambda manifest: ())
    host = LocalHost(tmp_path / "data", evaluator=means_ensured(files=files))
    made = await host.create(APPLICATIONS_IMAGE)
    assert isinstance(made, ApplicationSandbox)
    yield made
    await host.close()


async def test_a_task_file_is_set_up_done_by_keys_and_judged(sandbox: ApplicationSandbox) -> None:
    """Its file is brought, its window is in front, and a reset leaves nothing of it."""
    machine = sandbox.bind(1)
    assert not machine.capabilities.snapshots
    await machine.prepare(
        task(
            step("upload_file", files=[{"local_path": "seven.txt", "path": "/home/user/Documents/seven.txt"}]),
            step("launch", command=["xterm", "-T", "Notes"]),
            step(
                "execute_with_verification", command=["true"], verification=SHOWN, max_wait_time=60, check_interval=0.1
            ),
            step("activate_window", window_name="Notes"),
            step("execute", command=PRESSES, until={"returncode": 0}),
        )
    )
    assert (await machine.evaluate()).score == 0
    await machine.perform("type", TypeText(text="expr 6 '*' $(cat Documents/seven.txt) > Desktop/said.txt\n"))
    typed = await machine.perform("look", RunCommand(command="until [ -s Desktop/said.txt ]; do sleep 0.05; done"))
    assert typed.error is None
    assert (await machine.evaluate()).score == 1
    await sandbox.reset()
    after = sandbox.bind(sandbox.fence)
    listed = await after.perform("list", RunCommand(command="ls Desktop Documents"))
    assert "said.txt" not in (listed.after.text or "")
    assert "seven.txt" not in (listed.after.text or "")
    with pytest.raises(StaleLease):
        await machine.evaluate()


async def test_what_cannot_be_done_is_refused_by_name_and_a_failed_step_costs_the_machine(
    sandbox: ApplicationSandbox,
) -> None:
    machine = sandbox.bind(1)
    await machine.perform("mark", RunCommand(command="touch Desktop/mark"))
    with pytest.raises(UnsupportedTask, match="application_missing: Visual Studio Code"):
        await machine.prepare(task(apps=("vs_code",)))
    with pytest.raises(UnsupportedTask, match="no step fly"):
        await machine.prepare(task(step("fly")))
    kept = await machine.perform("look", RunCommand(command="ls Desktop"))
    assert "mark" in (kept.after.text or ""), "nothing was changed"
    failing = step("execute_with_verification", command=["true"], verification=SHOWN, max_wait_time=0, check_interval=0)
    with pytest.raises(MachineGone, match="verification"):
        await machine.prepare(task(failing))
