"""System packages: which programs the platform needs, and how to get those that are missing (Debian, Ubuntu)."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.postgres import SYSTEM as POSTGRES_FOLDER
from annotation_app.operations.redis import TOOLS as REDIS_TOOLS

CLUSTER_FOLDER = Path("/etc/postgresql-common/createcluster.d")
CLUSTER_NOTE = CLUSTER_FOLDER / "pilothouse.conf"
FONTS = Path("/usr/share/fonts")
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}


@dataclass(frozen=True, slots=True)
class Need:
    """A package, and how one sees that what it is for is there: any of these programs or path patterns."""

    package: str
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def met(self) -> bool:
        """Whether the machine has it, from this package or from anywhere else."""
        root = Path("/")
        return any(map(shutil.which, self.programs)) or any(any(root.glob(each.lstrip("/"))) for each in self.files)


DESKTOP = (
    Need("tigervnc-standalone-server", programs=("Xtigervnc",)),
    Need("openbox", programs=("openbox",)),
    Need("xterm", programs=("xterm",)),
    Need("mousepad", programs=("mousepad",)),
    Need("pcmanfm", programs=("pcmanfm",)),
    Need("galculator", programs=("galculator",)),
    Need("bubblewrap", programs=("bwrap",)),
    Need("dbus-x11", programs=("dbus-launch",)),
    Need("xclip", programs=("xclip",)),
    Need("x11-utils", programs=("xdpyinfo",)),
    Need("fonts-dejavu-core", files=(f"{FONTS}/truetype/dejavu/*",)),
    Need("fonts-noto-cjk", files=(f"{FONTS}/opentype/noto/NotoSansCJK*",)),
)
BROWSER = Need("chromium", programs=("chromium", "google-chrome"))
STORAGE = (
    Need("postgresql", files=(f"{POSTGRES_FOLDER}/*/bin/postgres",)),
    Need("redis-tools", programs=("redis-server", REDIS_TOOLS)),
)
NEEDS = (*DESKTOP, BROWSER, *STORAGE)


def ensure_packages(console: Console, log: Path) -> None:
    """Install what is missing, and only that. OperationsError says which package and what to do."""
    missing = [need for need in NEEDS if not need.met()]
    if BROWSER in missing and _is_ubuntu():
        missing.remove(BROWSER)
        console.warn("Ubuntu has Chromium only as a snap: end-to-end tests need a Chromium or Chrome on the PATH.")
    if not missing:
        return
    names = [need.package for need in missing]
    hint = f"Install them yourself, then start again:\n  apt-get install --no-install-recommends {' '.join(names)}"
    become_root = _become_root(names, hint)
    apt = [*become_root, "apt-get", "-o", "DPkg::Lock::Timeout=120"]
    console.step(f"Missing system packages: {', '.join(names)}")
    run("Reading the package lists", [*apt, "update"], console=console, log=log, environment=QUIET, hint=hint)
    with _no_system_cluster(become_root):
        install = [*apt, "install", "--yes", "--no-install-recommends", *names]
        what = f"Installing {len(names)} system packages (some minutes at most)"
        run(what, install, console=console, log=log, environment=QUIET, hint=hint)
    if still := [need.package for need in missing if not need.met()]:
        raise OperationsError(f"Installed, yet not found afterwards: {', '.join(still)}.", hint=hint)


def _become_root(names: list[str], hint: str) -> list[str]:
    if not shutil.which("apt-get"):
        raise OperationsError(
            f"This system has no apt-get and lacks: {', '.join(names)}.", hint="Install them its own way."
        )
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        raise OperationsError(f"Neither root nor sudo, and these packages are missing: {', '.join(names)}.", hint=hint)
    if subprocess.run(["sudo", "--validate"], check=False).returncode:
        raise OperationsError("sudo was refused.", hint=hint)
    return ["sudo", "--preserve-env=DEBIAN_FRONTEND,NEEDRESTART_MODE"]


@contextlib.contextmanager
def _no_system_cluster(become_root: list[str]) -> Iterator[None]:
    """While apt runs, tell Debian's PostgreSQL packages not to make, and so not to start, a cluster of the system."""
    if not STORAGE[0].met():
        subprocess.run([*become_root, "mkdir", "-p", str(CLUSTER_FOLDER)], check=True)
        note = b"create_main_cluster = false\n"
        subprocess.run([*become_root, "tee", str(CLUSTER_NOTE)], input=note, stdout=subprocess.DEVNULL, check=True)
    try:
        yield
    finally:
        subprocess.run([*become_root, "rm", "-f", str(CLUSTER_NOTE)], check=False)


def _is_ubuntu() -> bool:
    release = Path("/etc/os-release")
    return release.exists() and "\nID=ubuntu\n" in f"\n{release.read_text()}"
