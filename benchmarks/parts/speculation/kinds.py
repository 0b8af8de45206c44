"""The demo's machines by kind, with tasks for them and who proposes."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from agent_backend.scripted_policy.script import Script, load_scripts
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.speculation.policies import ScriptsPolicy, TimedExpert
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.suites.registry import SUITES, WEB_SUITES

TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
SCRIPTS = ROOT / "agent_backend" / "scripted_policy"
DEMO = ROOT / "annotation_app" / "demo"
BROWSER_SUITES = ("drills", "miniwob")


@dataclass(frozen=True, slots=True)
class Kind:
    """Machines of a kind, tasks of the demo for them, and who proposes."""

    image: str
    host: Callable[[Path], Host]
    tasks: tuple[Task, ...]
    scripts: tuple[Script, ...] = ()
    """Of its policy; none, and the machine's expert proposes."""


def kinds(most: int) -> tuple[Kind, ...]:
    """Browsers, desktops and phones, with at most so many tasks of each."""
    desktop, phone = (load_scripts(SCRIPTS / f"{name}.json") for name in ("desktop", "phone"))
    desktop_tasks = _scripted(TASKS.validate_json((DEMO / "tasks.json").read_bytes()), desktop)
    phone_tasks = _scripted(TASKS.validate_json((DEMO / "phone.json").read_bytes()), phone)
    browser = TASKS.validate_json((DEMO / "browser.json").read_bytes())
    pages = [[task for task in browser if task.suite == suite] for suite in BROWSER_SUITES]
    mixed = tuple(task for pair in zip(*pages, strict=False) for task in pair)
    return (
        Kind("browser", lambda folder: BrowserHost(folder, WEB_SUITES), mixed[:most]),
        Kind("desktop", lambda folder: LocalHost(folder, SUITES), desktop_tasks[:most], desktop),
        Kind("phone", lambda folder: PhoneHost(LocalHost(folder, SUITES), folder, SUITES), phone_tasks[:most], phone),
    )


def _scripted(tasks: Sequence[Task], scripts: Sequence[Script]) -> tuple[Task, ...]:
    """The tasks that have scripts, those with the longest first."""
    lengths = {script.instruction: len(script.stages) for script in scripts}
    known = [task for task in tasks if task.instruction in lengths]
    return tuple(sorted(known, key=lambda task: -lengths[task.instruction]))


@asynccontextmanager
async def machines(kind: Kind, folder: Path) -> AsyncIterator[tuple[Sandbox, Sandbox]]:
    """A machine and its twin."""
    host = kind.host(folder)
    try:
        yield await host.create(kind.image), await host.create(kind.image)
    finally:
        await host.close()


def policy_of(kind: Kind, machine: Callable[[], Machine], seconds: float) -> ScriptsPolicy | TimedExpert:
    """Who proposes on machines of a kind, in so many seconds; `machine` returns the episode's."""
    return ScriptsPolicy(kind.scripts, seconds) if kind.scripts else TimedExpert(machine, seconds)
