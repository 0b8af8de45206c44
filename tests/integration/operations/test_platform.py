"""The whole platform, as the demo starts it."""

import contextlib
import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

PROGRAMS = ("postgres", "redis", "web", "worker", "beat", "bridge", "vnc", "model")
BOUND = 30.0


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < deadline, "it did not come to hold in time"
        time.sleep(0.05)


def healthy(platform: TemporaryPlatform) -> bool:
    try:
        with urllib.request.urlopen(f"{platform.url}/api/health", timeout=5) as answer:
            return bool(json.load(answer)["ok"])
    except OSError:
        return False


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_every_program_runs_and_the_web_is_healthy(platform: TemporaryPlatform) -> None:
    assert healthy(platform)
    for program in PROGRAMS:
        os.kill(platform.pid(program), 0)


def test_the_demo_has_people_pools_and_tasks(platform: TemporaryPlatform) -> None:
    count = (
        "from annotation_app.accounts.models import User; from annotation_app.tasks.models import Pool, Task; "
        "print(User.objects.count(), Pool.objects.count(), Task.objects.count())"
    )
    users, pools, tasks = map(int, platform.manage("shell", "-v", "0", "-c", count).split())
    assert users >= 4
    assert pools >= 2
    assert tasks >= 10


def test_secrets_reach_the_programs_and_not_their_logs(platform: TemporaryPlatform) -> None:
    secrets = json.loads((platform.data / "secrets.json").read_text())
    assert platform.environment["PILOTHOUSE_BRIDGE_MASTER_KEY"] == secrets["bridge"]
    for program in PROGRAMS:
        assert not any(secret in platform.log(program) for secret in secrets.values()), program


def descendants(root: int) -> set[int]:
    """The processes below one, those in namespaces of their own included."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(stat.parent.name)] = int(parent)
    found = {root}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


@pytest.mark.timeout(300)
def test_nothing_is_left_of_a_platform_whose_supervisor_is_killed(tmp_path: Path) -> None:
    with temporary_platform(tmp_path) as platform:
        until(lambda: "Xtigervnc" in {name_of(pid) for pid in descendants(platform.supervisor)})
        below = descendants(platform.supervisor)
        os.kill(platform.supervisor, signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


@pytest.mark.parametrize("program", ["web", "bridge", "worker", "postgres"])
def test_a_killed_program_comes_back(platform: TemporaryPlatform, program: str) -> None:
    first = platform.pid(program)
    os.kill(first, signal.SIGKILL)
    until(lambda: (platform.data / "run" / f"{program}.pid").exists() and platform.pid(program) != first)
    until(lambda: healthy(platform))
