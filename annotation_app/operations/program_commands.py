"""Commands that exec another program, against the running installation or in the trainer's environment."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.extra_environments import ensure_osworld, ensure_trainer
from annotation_app.operations.install.readiness import check_modules
from annotation_app.operations.install.setup import SetupPurpose, ensure_python_packages
from annotation_app.operations.runtime.demo import SIGN_INS_FILE
from annotation_app.operations.runtime.platform_info import PlatformInfo, read_platform_info
from annotation_app.operations.runtime.stack import ROOT

TRAINER_PROGRAMS = ("serve", "nano", "toy")
"""Programs of the trainer other than the commands of `python -m trainer`."""
SOURCE_HINT = (
    "Tasks are chosen as rollouts choose them: --task, --level, --seeds, --image, … (docs/guides/researcher/tasks.md)."
)
MANAGE_TIMEOUT_SECONDS = 600.0
"""Longest time of a `manage.py` command; `ensure_pool` queries the bridge for every task."""


def openenv(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Serve machines and tasks to OpenEnv clients."""
    _exec_module("agent_backend.environments", rest, arguments.data)


def parse_replies(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Read replies of models."""
    os.chdir(ROOT)
    options = ["--dialect", arguments.dialect, "--size", arguments.size]
    if arguments.finish_reason is not None:
        options += ["--finish-reason", arguments.finish_reason]
    os.execv(sys.executable, [sys.executable, "-m", "protocol.dialects.cli", *options])  # noqa: S606 - no shell is wanted


def probe(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Try a model."""
    os.chdir(ROOT)
    options = [arguments.server, "--model", arguments.model]
    options += ["--dialect", arguments.dialect, "--screens", arguments.screens]
    os.execv(sys.executable, [sys.executable, "-m", "agent_backend.probe", *options])  # noqa: S606 - no shell is wanted


def osworld(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Install OSWorld's package, and run the requested command."""
    if arguments.work is None and rest:
        raise OperationsError(f"There is no option {rest[0]} without `table`.")
    ensure_python_packages(SetupPurpose.RUN, console)
    python = ensure_osworld(console, ocr=arguments.ocr)
    console.step(f"OSWorld's package is there: {python}")
    if arguments.work is None:
        return 0
    os.chdir(ROOT)
    words = [sys.executable, "-m", "vm_bridge.osworld_table", "--python", str(python), *rest]
    os.execv(sys.executable, words)  # noqa: S606 - no shell is wanted


def windows_image(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Make an image of Windows from an installation medium."""
    ensure_python_packages(SetupPurpose.RUN, console)
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-m", "vm_bridge.windows_image", *rest])  # noqa: S606 - no shell is wanted


def benchmark(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Run a policy on tasks. For a registered revision, the running installation supplies the options."""
    words = rest
    if arguments.registered is not None:
        words = [*rest, *_options_of(arguments.registered, require_platform(arguments.data))]
    _exec_module("agent_backend.benchmark", words, arguments.data)


def evaluate(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Report on a policy's attempts in folders."""
    _exec_module("agent_backend.evaluation", rest, arguments.data)


def factory(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Make tasks and check them."""
    _exec_module("task_factory", rest, arguments.data)


def simulate_annotator(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Run a suite's expert as an annotator in the running demo: in a pool, or in a pool of its own for the tasks
    of a source."""
    note = require_platform(arguments.data)
    if (arguments.pool is None) == (not rest):
        raise OperationsError("Name a pool with --pool, or tasks with --tasks or --suite.", hint=SOURCE_HINT)
    password = os.environ.get("PILOTHOUSE_PASSWORD") or _demo_password(arguments.data, arguments.user)
    pool = arguments.pool or _ensure_pool([arguments.user, *rest], note, console)
    words = ["--web", note.url, "--bridge", note.environment["PILOTHOUSE_BRIDGE_URL"], "--user", arguments.user]
    words += ["--pool", pool, "--episodes", str(arguments.episodes), "--aim", str(arguments.aim)]
    os.environ["PILOTHOUSE_PASSWORD"] = password
    _exec_module("agent_backend.simulated_annotator", words, arguments.data)


def trainer(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Exec a program of the trainer in its environment."""
    python = ensure_trainer(console)
    own = rest[:1] and rest[0] in TRAINER_PROGRAMS
    module, words = (f"trainer.{rest[0]}", rest[1:]) if own else ("trainer", rest)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    os.execve(python, [str(python), "-m", module, *words], environment)  # noqa: S606 - no shell is wanted


def require_platform(data: Path) -> PlatformInfo:
    """The installation that runs on a data folder. Raises OperationsError if none does."""
    note = read_platform_info(data)
    if note is None:
        raise OperationsError(f"Nothing is running on {data}.", hint="Start it: ./pilothouse demo")
    return note


def _options_of(registered: list[str], note: PlatformInfo) -> list[str]:
    """The rollout options of a registered revision. Raises OperationsError for an unknown revision."""
    options: list[str] = json.loads(_manage(["policy_options", *registered], note))
    return options


def _ensure_pool(words: list[str], note: PlatformInfo, console: Console) -> str:
    """The name of the pool with the tasks of a source, created if missing. Raises OperationsError."""
    made = json.loads(_manage(["ensure_pool", *words], note).splitlines()[-1])
    console.step(f"{made['pool']}: {made['tasks']} tasks, {made['new']} of them new.")
    return str(made["pool"])


def _manage(words: list[str], note: PlatformInfo) -> str:
    """The output of a `manage.py` command. Raises OperationsError with its error message."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    environment = {**os.environ, **note.environment}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MANAGE_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise OperationsError(f"{words[0]} has not ended after {MANAGE_TIMEOUT_SECONDS:.0f} seconds.") from None
    if done.returncode:
        error = done.stderr.strip().removeprefix("CommandError: ")
        raise OperationsError(error or f"{words[0]} ended with {done.returncode}.")
    return done.stdout


def _demo_password(data: Path, user: str) -> str:
    """The password of one of the demo's users. Raises OperationsError."""
    file = data / SIGN_INS_FILE
    for line in file.read_text().splitlines() if file.exists() else ():
        match line.split():
            case [name, password, *_] if name == user:
                return password
    raise OperationsError(f"{user} is no user of the demo.", hint="Give their password in PILOTHOUSE_PASSWORD.")


def _exec_module(module: str, words: list[str], data: Path) -> NoReturn:
    """Exec a module of this environment with the variables of the running installation, if one runs.

    Raises OperationsError if its packages are not installed.
    """
    check_modules()
    note = read_platform_info(data)
    known = {"PILOTHOUSE_DATA": str(data), **(note.environment if note is not None else {})}
    environment = {**known, **os.environ, "PYTHONPATH": str(ROOT)}
    os.execve(sys.executable, [sys.executable, "-m", module, *words], environment)  # noqa: S606 - no shell is wanted
