"""Locked Python requirements: every package with its dependencies, by exact version and the hashes of its files.

`./pilothouse lock` makes a lock from a requirements file; both are committed. The setup installs only from the lock and
accepts no file with another hash.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.python_packages import lock_command

OLDEST_PYTHON = "3.11"
TORCH_PREFIXES = ("torch", "triton", "nvidia-", "cuda-")
"""Names, or name prefixes, of packages that depend on the build of torch that a machine can use."""
SOURCE_LINE_PATTERN = re.compile(r"^# Requirements: sha256 ([0-9a-f]{64})$", re.MULTILINE)
PACKAGE_PATTERN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+).*(?:\n {4}.*)*", re.MULTILINE)
INCLUDE_PATTERN = re.compile(r"^-r (?P<path>\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RequirementLock:
    """A requirements file and its lock.

    `dependencies` is False if the file itself names all of them. The lock leaves out packages whose names begin with
    one of `left_out`.
    """

    source: Path
    dependencies: bool = True
    left_out: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The path of the lock."""
        return self.source.with_suffix(".lock")

    def digest(self) -> str:
        """Digest of the requirements, including those of included files, without comments and empty lines."""
        return hashlib.sha256("\n".join(sorted(_read_requirements(self.source))).encode()).hexdigest()

    def checked_path(self) -> Path:
        """The lock. Raises OperationsError when the requirements have changed since it was made."""
        found = SOURCE_LINE_PATTERN.search(self.path.read_text()) if self.path.exists() else None
        if found is None or found[1] != self.digest():
            raise OperationsError(
                f"{self.path.relative_to(ROOT)} does not fit {self.source.name}.", hint="Run `./pilothouse lock`."
            )
        return self.path

    def packages(self) -> dict[str, set[str]]:
        """The versions of each package. There are several if they depend on the Python or the system."""
        found: dict[str, set[str]] = {}
        for block in PACKAGE_PATTERN.finditer(self.path.read_text()):
            found.setdefault(block["name"], set()).add(block["version"])
        return found

    def block(self, name: str) -> str:
        """The lines of one package, usable as a requirements file. Raises KeyError."""
        for block in PACKAGE_PATTERN.finditer(self.path.read_text()):
            if block["name"] == name:
                return f"{block[0]}\n"
        raise KeyError(name)


RUN_LOCK = RequirementLock(ROOT / "requirements.txt")
DEVELOPMENT_LOCK = RequirementLock(ROOT / "requirements-dev.txt")
EMBEDDED_LOCK = RequirementLock(ROOT / "requirements-embedded.txt")
NODE_LOCK = RequirementLock(ROOT / "requirements-node.txt")
TRAINER_LOCK = RequirementLock(ROOT / "trainer" / "requirements.txt", left_out=TORCH_PREFIXES)
TOOLS_LOCK = RequirementLock(ROOT / "vm_bridge" / "images" / "tools.txt", dependencies=False)
AUDIT_LOCK = RequirementLock(ROOT / "annotation_app" / "operations" / "audit" / "requirements.txt")
DOCS_LOCK = RequirementLock(ROOT / "docs" / "requirements.txt")
GUEST_LOCK = RequirementLock(ROOT / "vm_bridge" / "guest" / "requirements.txt", dependencies=False)
WINDOWS_GUEST_LOCK = RequirementLock(ROOT / "vm_bridge" / "guest" / "windows" / "requirements.txt", dependencies=False)
WINDOWS_TOOLS_LOCK = RequirementLock(ROOT / "vm_bridge" / "guest" / "windows" / "tools.txt")
PHONE_LOCK = RequirementLock(ROOT / "vm_bridge" / "images" / "phone" / "requirements.txt", dependencies=False)
CLUSTER_LOCK = RequirementLock(ROOT / "vm_bridge" / "cluster" / "requirements.txt")
OSWORLD_LOCK = RequirementLock(ROOT / "vm_bridge" / "hosts" / "osworld" / "osworld_requirements.txt")
OSWORLD_PACKAGE_LOCK = RequirementLock(
    ROOT / "vm_bridge" / "hosts" / "osworld" / "osworld_package.txt", dependencies=False
)
RECORDER_PEER_LOCK = RequirementLock(ROOT / "benchmarks" / "parts" / "recorder" / "peer" / "requirements.txt")
ALL_LOCKS = (
    DEVELOPMENT_LOCK,
    RUN_LOCK,
    EMBEDDED_LOCK,
    NODE_LOCK,
    TRAINER_LOCK,
    TOOLS_LOCK,
    AUDIT_LOCK,
    DOCS_LOCK,
    GUEST_LOCK,
    WINDOWS_GUEST_LOCK,
    WINDOWS_TOOLS_LOCK,
    PHONE_LOCK,
    CLUSTER_LOCK,
    OSWORLD_LOCK,
    OSWORLD_PACKAGE_LOCK,
    RECORDER_PEER_LOCK,
)
"""In the order in which they are made, so that what runs has the versions that were tested."""
UNHASHED_REQUIREMENTS = (
    ROOT / "benchmarks" / "parts" / "exports" / "consumers" / "requirements.txt",
    ROOT / "vm_bridge" / "hosts" / "osworld" / "osworld_ocr_requirements.txt",
)
"""Requirements files without a lock, with exact versions only. These packages need an existing torch, or another Python
than ours."""


def write_locks(console: Console, log: Path, *, upgrade: bool = False) -> None:
    """Rebuild every lock from its requirements. Locked versions stay if the requirements allow them.

    Args:
        console: Where progress is shown.
        log: Log file for the output.
        upgrade: Whether packages that no file of requirements names get their newest version.

    Raises:
        CommandFailed: The requirements contradict each other, or no index answers.
    """
    for lock in ALL_LOCKS:
        arguments = ["--universal", "--python-version", OLDEST_PYTHON, "--output-file", str(lock.path)]
        if not lock.dependencies:
            arguments.append("--no-deps")
        if upgrade:
            arguments.append("--upgrade")
        if lock in (RUN_LOCK, CLUSTER_LOCK):  # they share an environment with what was tested
            arguments += ["--constraint", str(DEVELOPMENT_LOCK.path)]
        name = lock.path.relative_to(ROOT)
        command = lock_command(str(lock.source), *arguments)
        run_with_progress(f"Locking {name}", command.words, console=console, log=log, environment=command.environment)
        lock.path.write_text(render_lock(lock))


def render_lock(lock: RequirementLock) -> str:
    """The content of the lock, from what uv wrote there."""
    blocks = [
        block[0]
        for block in PACKAGE_PATTERN.finditer(lock.path.read_text())
        if not block["name"].startswith(lock.left_out or ("\0",))
    ]
    header = f"# Made by `./pilothouse lock` from {lock.source.name}.\n# Requirements: sha256 {lock.digest()}\n"
    return header + "\n".join(blocks) + "\n"


def _read_requirements(source: Path) -> Sequence[str]:
    text = source.read_text()
    included = [
        line for found in INCLUDE_PATTERN.finditer(text) for line in _read_requirements(source.parent / found["path"])
    ]
    own = (line.partition("#")[0].strip() for line in text.splitlines())
    return [*included, *(line for line in own if line and not line.startswith("-r "))]
