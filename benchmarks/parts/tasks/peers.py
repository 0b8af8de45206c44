"""Other projects' packages in scratch environments, and programs that run in them."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress

SANDBOXES = ROOT / "clients" / "sandboxes_pilothouse"
PACKAGE_FILES = (*sorted(SANDBOXES.rglob("*.py")), SANDBOXES / "pyproject.toml")
"""Of our package for Inspect and Harbor."""
INSTALL_SECONDS = 600.0
RUN_SECONDS = 420.0


class PeerUnavailable(Exception):
    """A package cannot be installed here."""


class PeerFailed(Exception):
    """A program of another project's environment failed; the message has the end of what it printed."""


def find_python(version: str) -> Path:
    """An interpreter of this version, such as `3.12`, also one that pyenv has. Raises PeerUnavailable."""
    name = f"python{version}"
    found = shutil.which(name)
    candidates = [] if found is None else [Path(found)]
    if found is not None and Path(found).parent.name == "shims":
        candidates = sorted(Path(found).parents[1].glob(f"versions/{version}.*/bin/{name}"))
    for candidate in candidates:
        if subprocess.run((candidate, "-c", ""), capture_output=True, check=False).returncode == 0:
            return candidate
    raise PeerUnavailable(f"there is no Python {version}")


def peer_environment(folder: Path, requirements: Sequence[str], *, base: Path | None = None) -> Path:
    """The interpreter of a new environment with these packages, of our Python or of `base`. Raises PeerUnavailable."""
    python = folder / "bin" / "python"
    uv = ROOT / ".venv" / "bin" / "uv"
    install = (str(uv), "pip", "install", "--quiet", "--python", str(python), *requirements)
    made = (str(uv), "venv", "--quiet", *(() if base is None else ("--python", str(base))), str(folder))
    for command in (made, install):
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, env=_uv_environment()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PeerUnavailable(f"{requirements}: {error}") from None
        if done.returncode:
            raise PeerUnavailable(f"{requirements}: {done.stderr[-500:]}")
    print_progress(f"installed {', '.join(requirements)}")
    return python


def copy_package(target: Path) -> Path:
    """A copy of our package for Inspect and Harbor, since building writes beside the sources."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(SANDBOXES, target)
    return target


def _uv_environment() -> dict[str, str]:
    """uv's environment: it looks for wheels where pip does."""
    wheels = os.environ.get("PIP_FIND_LINKS")
    return {**os.environ, **({"UV_FIND_LINKS": wheels} if wheels else {})}


def run_peer(
    command: Sequence[str | Path], environment: Mapping[str, str], *, seconds: float = RUN_SECONDS, cwd: Path = ROOT
) -> str:
    """What a program prints. Raises PeerFailed."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerFailed(f"{words[:3]} did not end within {seconds:g} s") from None
    if done.returncode:
        raise PeerFailed(f"{words[:3]}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def last_json(printed: str) -> dict[str, Any]:
    """The JSON object of the last line."""
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found
