"""Commands that install Python packages: by uv, which takes seconds where pip takes minutes, or by pip without it.

uv does not read pip's settings. `uv_environment` gives it the same indexes, so that a person who has set up pip for a
mirror or a proxy sets up nothing twice; a `UV_…` variable that is set already wins.
"""

import functools
import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
CONFIG_TIMEOUT_SECONDS = 30
LIST_SETTINGS = {"extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS", "constraint": "UV_CONSTRAINT"}
"""Settings of pip that name several things, and what uv calls them."""
SINGLE_SETTINGS = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE", "default-timeout": "UV_HTTP_TIMEOUT"}
WITHOUT_CONSTRAINTS = {"UV_CONSTRAINT": "", "PIP_CONSTRAINT": ""}
SEPARATORS = {"UV_FIND_LINKS": ","}


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, and what it needs in its environment beside what is there."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def merged_environment(self) -> dict[str, str]:
        """The whole environment of the program."""
        return {**os.environ, **self.environment}


def pip_install(python: Path | str, *arguments: str, compiled: bool = False) -> Command:
    """The command that installs into the environment of `python`; `arguments` are ones that pip and uv share.

    Bytecode is written when a module is first imported. Pass `compiled` where the environment is read-only by then.
    """
    if not importlib.util.find_spec("uv"):
        compiling = () if compiled else ("--no-compile",)
        return Command((*PIP, "--python", str(python), "install", "--root-user-action=ignore", *compiling, *arguments))
    compiling = ("--compile-bytecode",) if compiled else ()
    options = ("--python", str(python), "--index-strategy", "unsafe-best-match", *compiling)
    return Command((sys.executable, "-m", "uv", "pip", "install", *options, *arguments), uv_environment())


def pip_uninstall(python: Path | str, *packages: str) -> Command:
    """The command that removes packages that may be there."""
    if not importlib.util.find_spec("uv"):
        return Command((*PIP, "--python", str(python), "uninstall", "--yes", *packages))
    return Command((sys.executable, "-m", "uv", "pip", "uninstall", "--python", str(python), *packages))


def locked_install(python: Path | str, lock: Path, *options: str, compiled: bool = False) -> Command:
    """The command that installs exactly what a lock names, and no file with another hash than it has there.

    Constraints of pip's settings do not count: they are ranges, which uv does not accept beside hashes.
    """
    words = ("--require-hashes", "--no-deps", "--requirement", str(lock))
    command = pip_install(python, *options, *words, compiled=compiled)
    return Command(command.words, {**command.environment, **WITHOUT_CONSTRAINTS})


def windows_install(folder: Path, python_version: str, *locks: Path) -> Command:
    """The command that installs locked packages for a Python on 64-bit Windows into a folder; it needs uv.

    Unlike pip, uv decides for Windows which packages a lock means.
    """
    target = ("--python-platform", "x86_64-pc-windows-msvc", "--python-version", python_version)
    words = ("--quiet", "--no-deps", "--require-hashes", *target, "--target", str(folder))
    requirements = [word for lock in locks for word in ("--requirement", str(lock))]
    options = ("--index-strategy", "unsafe-best-match", *words, *requirements)
    return Command(
        (sys.executable, "-m", "uv", "pip", "install", *options), {**uv_environment(), **WITHOUT_CONSTRAINTS}
    )


def lock_command(*arguments: str) -> Command:
    """The command that resolves requirements with the hashes of all their files; it needs uv.

    Of pip's settings it has the main index alone: an index on this machine's disk would not have the files for others.
    """
    own = {name: value for name, value in uv_environment().items() if name in SINGLE_SETTINGS.values()}
    options = ("--no-config", "--quiet", "--generate-hashes", "--no-annotate", "--no-header")
    return Command((sys.executable, "-m", "uv", "pip", "compile", *options, *arguments), own)


def create_environment(folder: Path) -> Command:
    """The command that makes an empty environment of the running Python in `folder`, in place of what is there."""
    return Command((sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)))


@functools.cache
def uv_environment() -> Mapping[str, str]:
    """Pip's settings as environment variables of uv. Raises CalledProcessError, TimeoutExpired."""
    done = subprocess.run(
        [*PIP, "config", "list"], capture_output=True, text=True, timeout=CONFIG_TIMEOUT_SECONDS, check=True
    )
    return {name: value for name, value in parse_pip_config(done.stdout).items() if name not in os.environ}


def parse_pip_config(listed: str) -> dict[str, str]:
    """What `pip config list` printed, as environment variables of uv. Variables of pip win over its files."""
    found: dict[str, str] = {}
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, quoted = line.partition("=")
        setting, values = name.rpartition(".")[2], shlex.split(quoted)
        value = values[0] if values else ""
        if setting in SINGLE_SETTINGS:
            found[SINGLE_SETTINGS[setting]] = value
        elif setting in LIST_SETTINGS:
            variable = LIST_SETTINGS[setting]
            found[variable] = SEPARATORS.get(variable, " ").join(value.split())
    return found
