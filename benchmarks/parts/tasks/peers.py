"""Other projects' packages in scratch environments, and programs that run in them."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress

INSTALL_SECONDS = 600.0
RUN_SECONDS = 420.0


class PeerUnavailable(Exception):
    """A package cannot be installed here."""


class PeerFailed(Exception):
    """A program of another project's environment failed; the message has the end of what it printed."""


def peer_environment(folder: Path, requirements: Sequence[str]) -> Path:
    """The interpreter of a new environment with these packages. Raises PeerUnavailable."""
    python = folder / "bin" / "python"
    uv = ROOT / ".venv" / "bin" / "uv"
    install = (str(uv), "pip", "install", "--quiet", "--python", str(python), *requirements)
    for command in ((str(uv), "venv", "--quiet", str(folder)), install):
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
