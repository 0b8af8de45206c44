"""The demo: the complete platform on one machine, with its address printed in the terminal, until Ctrl-C."""

import asyncio
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.file_locks import LOCK_NAME
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.stamps import digest_files, is_fresh, write_stamp
from annotation_app.operations.runtime.platform_info import PlatformInfo, publish_platform_info
from annotation_app.operations.runtime.ports import PortAllocator
from annotation_app.operations.runtime.secrets import InstallationSecrets
from annotation_app.operations.runtime.stack import LOOPBACK, ROOT, PlatformStack, Ports
from annotation_app.operations.runtime.supervisor import Supervisor

SIGN_INS_FILE = "sign-ins.txt"
DEMO_SOURCES = ("annotation_app/*/migrations/*.py", "annotation_app/demo/**/*.py", "annotation_app/demo/**/*.json")
ANY_PORT = 0
WILDCARD_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - compared with, never bound to unasked


def create_stack(
    data: Path,
    *,
    host: str,
    port: int | None,
    allocator: PortAllocator,
    console: Console,
    trainer: Path | None = None,
    preferred: Ports = Ports(),  # noqa: B008 - it is frozen
) -> PlatformStack:
    """The stack of this folder. `trainer` is the interpreter that serves the bundled policy. `port` is the web port:
    None selects the first free one from `preferred` on, 0 selects free ports for all programs (tests), another number
    requires that port (else OperationsError). The ports are reserved while `allocator` is open."""
    if host in WILDCARD_HOSTS:
        raise OperationsError(f"{host} is no address a browser can open.", hint="Name the one that people will use.")
    data.mkdir(parents=True, exist_ok=True)
    return PlatformStack(
        data=data,
        host=host,
        ports=_choose_ports(port, preferred, allocator, console),
        secrets=InstallationSecrets.load_or_create(data / "secrets.json"),
        trainer=trainer,
    )


def _choose_ports(web: int | None, preferred: Ports, allocator: PortAllocator, console: Console) -> Ports:
    chosen = {"web": allocator.exact("web", web)} if web else {}
    for field in fields(Ports):
        if web == ANY_PORT:
            chosen[field.name] = allocator.any_free()
        elif field.name not in chosen:
            chosen[field.name] = allocator.first_free(field.name, getattr(preferred, field.name), console)
    return Ports(**chosen)


async def run_stack(stack: PlatformStack, console: Console, *, storage_only: bool, started: Callable[[], None]) -> None:
    """Run until cancelled. Calls `started` when all programs are ready. Meanwhile `run/platform.json` holds all
    addresses."""
    began = time.monotonic()
    async with Supervisor(stack.data, console) as supervisor:
        await supervisor.start(*stack.storage_programs())
        if not storage_only:
            await asyncio.to_thread(_load_demo_data, stack, console)
            await supervisor.start(*stack.service_programs())
            _print_welcome(stack, console, seconds=time.monotonic() - began)
        started()
        with publish_platform_info(stack.data, PlatformInfo(stack.url, stack.environment(), os.getpid())):
            await supervisor.watch()


def _load_demo_data(stack: PlatformStack, console: Console) -> None:
    """Create tables and demo data, if the code for them has changed since the last time."""
    sources = [path for pattern in DEMO_SOURCES for path in ROOT.glob(pattern)]
    exposed = ("--exposed",) if stack.host != LOOPBACK else ()
    served = [stack.environment()[name] for name in ("PILOTHOUSE_SCRIPTED_URL", "PILOTHOUSE_NANO_URL")]
    digest = digest_files(sources, salt=" ".join((*served, *exposed)))
    done = stack.data / "loaded.stamp"
    if is_fresh(done, digest):
        return
    manage = (sys.executable, str(ROOT / "manage.py"))
    environment, log = stack.environment(), stack.data / "logs" / "setup.log"
    run_with_progress(
        "Making the database tables",
        (*manage, "migrate", "--skip-checks"),
        console=console,
        log=log,
        environment=environment,
    )
    sign_ins = stack.data / SIGN_INS_FILE
    sign_ins.unlink(missing_ok=True)
    sign_ins.touch(mode=0o600)
    seed = (*manage, "seed_demo", "--skip-checks", *exposed)
    run_with_progress("Loading users, pools and tasks", seed, console=console, log=sign_ins, environment=environment)
    write_stamp(done, digest)


def _print_welcome(stack: PlatformStack, console: Console, *, seconds: float) -> None:
    console.say()
    console.say(f"  Pilothouse is ready after {seconds:.1f} s:  {console.paint(stack.url, 36)}")
    console.say()
    for line in (stack.data / SIGN_INS_FILE).read_text().splitlines():
        console.say(f"  {line}")
    console.say()
    console.say("  Ctrl-C stops everything; what was done is kept.")
    console.say()


def run_until_stopped(stack: PlatformStack, console: Console, *, storage_only: bool) -> int:
    """Serve until Ctrl-C, SIGTERM or a closed terminal; then stop all programs in reverse order.

    Returns:
        The exit status: 0, or 128 and the signal's number when it came before all programs were ready.
    """
    received: list[signal.Signals] = []
    started = threading.Event()

    async def main() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task

        def stop(number: signal.Signals) -> None:
            received.append(number)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stop, number)
        try:
            await run_stack(stack, console, storage_only=storage_only, started=started.set)
        except asyncio.CancelledError:
            if not received:
                raise
        console.step("Stopped.")

    asyncio.run(main())
    return 0 if started.is_set() else 128 + received[0]


def wipe_data(data: Path, console: Console, *, confirmed: bool) -> None:
    """Delete the data folder, which the caller has locked, after asking unless `confirmed`. Raises OperationsError if
    the person does not agree."""
    if not confirmed:
        console.say(f"Delete everything under {data}, users, episodes and screenshots? [y/N]")
        if sys.stdin.readline().strip().lower() != "y":
            raise OperationsError("Nothing was deleted.", hint="Answer y, or give --yes.")
    for path in data.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK_NAME:
            path.unlink()
    console.step(f"Deleted everything under {data}.")
