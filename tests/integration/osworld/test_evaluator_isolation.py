"""The walls around OSWorld's package: what it reaches, what it is given, and that it ends."""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from tests.integration.osworld.task_files import ACCOUNT, NEEDS_CHROMIUM, Web, brought, chrome, run, task
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.osworld import disk_quota, evaluator
from vm_bridge.hosts.osworld.evaluator_program import CACHE
from vm_bridge.hosts.osworld.host import GuestSandbox
from vm_bridge.hosts.osworld.program_needs import FILES

pytestmark = [
    pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc"),
    pytest.mark.timeout(900),  # the first one installs OSWorld's package
]


async def test_what_a_metric_runs_is_behind_walls(guest: GuestSandbox, web: Web, tmp_path: Path) -> None:
    """It reaches the guest and the allowed host; no file of this machine, no port of it, no other host."""
    (tmp_path / "secret").touch()
    suite = f"""
import os, pathlib, socket, urllib.error, urllib.request
def told(url):
    try:
        return urllib.request.urlopen(url, timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code
def test():
    try:
        socket.create_connection(("127.0.0.1", {web.server.server_port}), 5)
    except ConnectionRefusedError:
        pass
    else:
        return False
    ways = [told(url) for url in ("http://127.0.0.1:5000/platform", "{web.url("right.png")}", "http://other.example/")]
    seen = [os.path.exists(path) for path in ("{tmp_path}/secret", "{FILES}/{ACCOUNT}", "{FILES}/one.txt")]
    return ways == [200, 200, 403] and seen == [False, False, True] and os.getuid() == 1000
"""
    (web.folder / "suite.py").write_text(suite)
    found = {"type": "vm_file", "path": "~/suite.py", "dest": "suite.py"}
    machine = guest.bind(1)
    await machine.prepare(
        task(brought(web, suite_py="suite.py"), func="check_python_file_by_test_suite", result=found, expected=found)
    )
    assert (await machine.evaluate()).success is True
    await run(machine, "echo 'def test(): return False' > suite.py")
    assert (await machine.evaluate()).success is False


async def test_what_takes_too_long_is_ended_with_all_it_started(
    guest: GuestSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = guest.bind(1)
    monkeypatch.setattr(evaluator, "RUN_TIMEOUT_SECONDS", 6.0)
    for_ever = {"type": "execute", "command": ["true"], "until": {"returncode": 1}}
    preparing = asyncio.create_task(machine.prepare(task(for_ever, func="infeasible")))
    folder = await wait_for_task_folder(guest)
    with pytest.raises(MachineGone, match="did not end within 6 s"):
        await preparing
    await eventually(lambda: not processes_in_sandbox(folder))
    assert not folder.exists()


async def test_what_a_lease_still_does_ends_with_it(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    for_ever = {"type": "execute", "command": ["true"], "until": {"returncode": 1}}
    preparing = asyncio.create_task(machine.prepare(task(for_ever, func="infeasible")))
    folder = await wait_for_task_folder(guest)
    await guest.reset()
    with pytest.raises(MachineGone, match="taken away"):
        await preparing
    await eventually(lambda: not processes_in_sandbox(folder))
    assert not folder.exists()
    await run(guest.bind(2), "true")


async def test_a_set_up_that_keeps_too_much_on_the_disk_costs_the_machine_and_leaves_nothing(
    guest: GuestSandbox, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_quota, "MAX_BYTES", 2**20)
    (web.folder / "large").write_bytes(os.urandom(2**22))
    with pytest.raises(MachineGone, match="its files take more than"):
        await guest.bind(1).prepare(task(brought(web, large="large"), func="infeasible"))
    assert guest.evaluator.folder is None
    await guest.reset()
    machine = guest.bind(2)
    await machine.prepare(task(func="infeasible"))
    assert (await machine.evaluate(answer="FAIL")).success is True


async def test_a_metric_that_keeps_too_much_on_the_disk_is_ended(
    guest: GuestSandbox, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go on for ever."""
    suite = f"""
import os, time
def test():
    for number in range(8):
        with open(f"{CACHE}/{{number}}", "wb") as file:
            file.write(os.urandom(1 << 20))
    while True:
        time.sleep(1)
"""
    (web.folder / "suite.py").write_text(suite)
    found = {"type": "vm_file", "path": "~/suite.py", "dest": "suite.py"}
    machine = guest.bind(1)
    await machine.prepare(
        task(brought(web, suite_py="suite.py"), func="check_python_file_by_test_suite", result=found, expected=found)
    )
    folder = guest.evaluator.folder
    assert folder is not None
    monkeypatch.setattr(disk_quota, "MAX_BYTES", 2**22)
    with pytest.raises(VerifierFailed, match="its files take more than"):
        await machine.evaluate()
    await eventually(lambda: not processes_in_sandbox(folder))


async def test_a_host_that_is_not_allowed_is_refused_before_anything_changes(guest: GuestSandbox, web: Web) -> None:
    machine = guest.bind(1)
    await run(machine, "touch kept.txt")
    url = {"url": "https://elsewhere.example/a", "path": "~/a"}
    with pytest.raises(UnsupportedTask, match=r"download fetches from elsewhere\.example"):
        await machine.prepare(task({"type": "download", "files": [url]}, func="infeasible"))
    await run(machine, "test -e kept.txt")


@NEEDS_CHROMIUM
async def test_an_account_is_read_by_the_step_that_asks_for_it(guest: GuestSandbox) -> None:
    """Its login page cannot be reached; the package reads the account before it looks for the page's fields."""
    machine = guest.bind(1)
    login = {"type": "login", "settings_file": ACCOUNT, "platform": "googledrive"}
    upload = {"type": "upload_file", "files": [{"local_path": "one.txt", "path": "~/one.txt"}]}
    await machine.prepare(task(upload, chrome(guest), login, func="infeasible"))
    await run(machine, "grep -qx one one.txt")
    nobody = login | {"settings_file": "evaluation_examples/settings/other.json"}
    with pytest.raises(
        UnsupportedTask, match=r"login asks for the account in evaluation_examples/settings/other\.json"
    ):
        await machine.prepare(task(nobody, func="infeasible"))


async def wait_for_task_folder(guest: GuestSandbox) -> Path:
    """The folder of the present task, once a program sees it."""
    await eventually(lambda: guest.evaluator.folder and processes_in_sandbox(guest.evaluator.folder), 60)
    assert guest.evaluator.folder is not None
    return guest.evaluator.folder


def processes_in_sandbox(folder: Path) -> list[str]:
    """Programs that see a task's folder, which may have been removed since."""
    found = []
    for mounts in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):
            if f"/{folder.name}/cache" in mounts.read_text():
                found.append(mounts.parent.name)
    return found
