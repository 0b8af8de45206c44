"""Turning the flywheel from the command line: an installation's own wheel, or the small one over the toy world."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.children import child
from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.model_server import NotServing, serve_command, until_serving
from annotation_app.operations.ports import PortAllocator
from annotation_app.operations.running import Running, running
from annotation_app.operations.stack import ROOT

POLICY = "toy"
WHEEL = "small"
ATTEMPTS = 64
"""Attempts that come in before each turn."""
OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
MANAGE = (sys.executable, str(ROOT / "manage.py"))


def run_toy_flywheel(data: Path, *, cycles: int, python: Path, console: Console) -> None:
    """Turn the small wheel, with a PostgreSQL, a policy server and a trainer of its own, all in `data`; ended at any
    moment and given again it goes on. CommandFailed where a turn fails."""
    log = data / "logs" / "wheel.log"
    start = data / "toy" / "start"
    toy = (str(python), "-m", "trainer.toy")
    if not start.exists():
        run("Teaching a toy policy", (*toy, "start", str(start)), console=console, log=log, environment=OFFLINE)
    with running(data, storage_only=True) as storage:
        run(
            "Making the database tables",
            (*MANAGE, "migrate", "--skip-checks"),
            console=console,
            log=log,
            environment=storage.environment,
        )
        standing = _standing(storage, start)
        with (
            PortAllocator() as allocator,
            _serving(python, standing, allocator, log=data / "logs" / "model.log") as server,
        ):
            ended = standing["ended"] + cycles
            while (standing := _standing(storage, start))["ended"] < ended:
                if not standing["running"]:
                    _attempts(storage, standing, start=start, server=server, toy=toy, console=console)
                turn = (*MANAGE, "run_flywheel", WHEEL)
                run("Turning", turn, console=console, log=log, environment=storage.environment)
                console.say(log.read_text().strip().splitlines()[-1])


def _attempts(
    storage: Running, standing: Mapping[str, Any], *, start: Path, server: str, toy: tuple[str, ...], console: Console
) -> None:
    """Attempts by who proposes now, with seeds that nobody has tried, come in."""
    log, number = storage.data / "logs" / "wheel.log", standing["ended"]
    folder = storage.data / "toy" / f"attempts-{number:04}"
    seeds = ("--first-seed", str(number * ATTEMPTS), "--seeds", str(ATTEMPTS))
    whose = ("--policy", POLICY, "--revision", standing["revision"])
    words = (*toy, "attempts", standing["checkpoint"], "--out", str(folder), *whose, *seeds)
    run(f"{ATTEMPTS} attempts by {standing['revision']}", words, console=console, log=log, environment=OFFLINE)
    taken = (*MANAGE, "toy_flywheel", str(start), "--server", server, "--attempts", str(folder))
    run("Taking them in", taken, console=console, log=log, environment=storage.environment)


def _standing(storage: Running, start: Path) -> dict[str, Any]:
    """Where the wheel stands."""
    told: dict[str, Any] = json.loads(storage.manage("toy_flywheel", str(start)).splitlines()[-1])
    return told


@contextlib.contextmanager
def _serving(python: Path, standing: Mapping[str, Any], allocator: PortAllocator, *, log: Path) -> Iterator[str]:
    """The policy's server, with the weights of who proposes; the turn gives it newer ones. Its address."""
    kept = log.parent.parent / "model.port"
    # A turn that goes on gives its weights to the address it began with.
    port = allocator.exact("the policy", int(kept.read_text())) if kept.exists() else allocator.any_free()
    kept.write_text(str(port))
    command = serve_command(python, standing["checkpoint"], name=POLICY, port=port, more=("--dev",))
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("ab") as said,
        child(command, environment=OFFLINE, said=said, told=said) as process,
    ):
        try:
            address = until_serving(process, port)
        except NotServing as error:
            raise CommandFailed(f"The policy's server did not begin: {error}.", hint=f"All it said: {log}") from None
        yield address
