"""Makes an image in stages, each of which is done once: a stopped run resumes where it was.

medium: the medium with the answers and our files. install: Windows installs itself from both media into an empty disk,
runs our script and shuts down. verify: the disk boots, and the agent in it proves that it knows the secret.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.guest.windows.pack import sources
from vm_bridge.windows_image.agent import AgentCheck
from vm_bridge.windows_image.answer_file import answer_file
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.guest_files import (
    FAILED,
    READY,
    install_packages,
    python_version,
    setup_script,
    write_archive,
)
from vm_bridge.windows_image.medium import check_windows_medium, write_medium
from vm_bridge.windows_image.settings import (
    AGENT_PORT,
    DISK_FILE,
    FILES_ARCHIVE,
    MANIFEST_FILE,
    MEDIUM_FOLDER,
    SECRET_FILE,
    SETUP_SCRIPT,
    USER,
    ImageSettings,
)
from vm_bridge.windows_image.virtual_machine import (
    Hardware,
    VirtualMachine,
    check_host,
    create_disk,
    free_port,
    run_machine,
)

NEEDED_BYTES = 24 * 2**30
"""Free space that an installation takes."""
POLL_SECONDS, PROGRESS_SECONDS = 2.0, 60.0
BOOT_SECONDS = 900.0
"""Longest from the start of a made disk to its agent's answer."""
SHUTDOWN_SECONDS = 300.0
MEDIUM_FILE, STATE_FILE, SCREENSHOT_FILE = "answers.iso", "state.json", "screen.png"
FORMAT = 1

Say = Callable[[str], None]
"""Receives a line of progress."""


@dataclass
class _Progress:
    """The finished stages of an image, stored in its folder."""

    folder: Path
    fingerprint: str
    secret: str
    password: str
    done: list[str]

    def finish(self, stage: str) -> None:
        """Note that a stage is done."""
        self.done.append(stage)
        self.write()

    def write(self) -> None:
        """Replace the file, readable by its owner only."""
        path = self.folder / STATE_FILE
        fresh = path.with_suffix(".new")
        values = {
            "fingerprint": self.fingerprint,
            "secret": self.secret,
            "password": self.password,
            "done": self.done,
        }
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(values, file)
        fresh.replace(path)


async def make_image(settings: ImageSettings, say: Say) -> Path:
    """The manifest of the image that was made. Raises ImageError.

    What was done stays in a folder beside the image when it is stopped. The next run with the same settings goes on
    there; an installation that was under way begins again.
    """
    version = _check(settings)
    folder = settings.out.with_name(f".{settings.out.name}.making")
    with _locked(folder):
        progress = _begin(settings, folder, say)
        settings = replace(settings, secret=progress.secret, password=progress.password)
        stages: dict[str, Callable[[], Awaitable[None]]] = {
            "medium": lambda: asyncio.to_thread(_make_medium, settings, folder, version),
            "install": lambda: _install(settings, folder, say),
            "verify": lambda: _verify(settings, folder),
        }
        for name, run in stages.items():
            if name in progress.done:
                say(f"{name}: done by an earlier run")
                continue
            began = time.monotonic()
            say(f"{name}: begins")
            await run()
            progress.finish(name)
            say(f"{name}: done in {time.monotonic() - began:.0f} s")
        return _publish(settings, folder, version)


def _check(settings: ImageSettings) -> str:
    """What can be said before anything is made; the version of Python. Raises ImageError."""
    if settings.out.exists():
        raise ImageError("image_exists", f"{settings.out} is there already")
    check_host((settings.qemu, settings.qemu_img), needs_kvm=settings.needs_kvm)
    check_windows_medium(settings.iso)
    version = python_version(settings.python)
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.out.parent).free
    if free < NEEDED_BYTES:
        raise ImageError(
            "no_space", f"{settings.out.parent} has {free / 2**30:.0f} GiB free, not {NEEDED_BYTES >> 30} GiB"
        )
    return version


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Two runs never make one image at a time. Raises ImageError."""
    with folder.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ImageError("busy", f"another run makes {folder.name} now") from error
        yield
    folder.with_suffix(".lock").unlink(missing_ok=True)


def _begin(settings: ImageSettings, folder: Path, say: Say) -> _Progress:
    """What an earlier run with the same settings did; nothing where there was none."""
    wanted = _fingerprint(settings)
    try:
        kept = _Progress(folder=folder, **json.loads((folder / STATE_FILE).read_text()))
    except (OSError, ValueError, TypeError):
        kept = None
    if kept is not None and kept.fingerprint == wanted:
        return kept
    if folder.exists():
        say("an earlier run had other settings: everything begins again")
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    progress = _Progress(folder, wanted, settings.secret, settings.password, [])
    progress.write()
    return progress


def _fingerprint(settings: ImageSettings) -> str:
    """Digest of everything that an image is made of, but for its secrets."""
    sums = hashlib.sha256(repr(replace(settings, secret="", password="")).encode())
    for path in (settings.iso, settings.python):
        status = path.stat()
        sums.update(f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    sums.update(agent_digest().encode())
    return sums.hexdigest()


def agent_digest() -> str:
    """Digest of the agent's source code."""
    sums = hashlib.sha256()
    for source in sources():
        sums.update(source.read_bytes())
    return sums.hexdigest()


def _make_medium(settings: ImageSettings, folder: Path, version: str) -> None:
    packages, archive = folder / "packages", folder / FILES_ARCHIVE
    shutil.rmtree(packages, ignore_errors=True)
    install_packages(version, packages)
    write_archive(settings, packages, archive)
    files: dict[str, bytes | Path] = {
        "autounattend.xml": answer_file(settings),
        f"{MEDIUM_FOLDER}/{SETUP_SCRIPT}": setup_script(settings),
        f"{MEDIUM_FOLDER}/{FILES_ARCHIVE}": archive,
    }
    write_medium(folder / MEDIUM_FILE, files)
    (folder / MEDIUM_FILE).chmod(0o600)
    shutil.rmtree(packages)
    archive.unlink()


async def _install(settings: ImageSettings, folder: Path, say: Say) -> None:
    """Raises ImageError with the last picture of the screen."""
    disk = folder / DISK_FILE
    create_disk(settings.qemu_img, disk, gib=settings.disk_gib)
    hardware = replace(_hardware(settings, disk), media=(settings.iso, folder / MEDIUM_FILE))
    try:
        async with run_machine(hardware, folder) as machine:
            await _watch_installation(machine, settings, folder, say)
    except (MachineGone, TimeoutError) as error:
        raise ImageError("install_failed", f"QEMU does not answer: {error}") from error


async def _watch_installation(machine: VirtualMachine, settings: ImageSettings, folder: Path, say: Say) -> None:
    began = told = time.monotonic()
    while not machine.ended:
        await machine.wait(POLL_SECONDS)
        now, lines = time.monotonic(), machine.serial_lines()
        if any(line.startswith(FAILED) for line in lines):
            await _fail(machine, folder, "install_failed", f"the script inside said: {lines[-1]}")
        if not machine.ended and now - began > settings.timeout_minutes * 60:
            await _fail(machine, folder, "install_timed_out", f"not done in {settings.timeout_minutes} minutes")
        if now - told > PROGRESS_SECONDS:
            told = now
            used = (folder / DISK_FILE).stat().st_blocks * 512 / 2**30
            say(f"install: {(now - began) / 60:.0f} min, {used:.1f} GiB, {lines[-1] if lines else 'Windows Setup'}")
    if READY not in machine.serial_lines():
        last = (machine.serial_lines() or ["nothing"])[-1]
        raise ImageError(
            "install_failed", f"the machine was switched off before it was ready; its last report was {last}"
        )


async def _fail(machine: VirtualMachine, folder: Path, code: Any, message: str) -> None:
    """Raises ImageError, with where the last picture of the screen lies."""
    picture = await machine.save_screenshot(folder / SCREENSHOT_FILE)
    raise ImageError(code, f"{message}; the screen is in {picture}" if picture else message)


async def _verify(settings: ImageSettings, folder: Path) -> None:
    """Boot the disk once, without changing it. Raises ImageError."""
    overlay = folder / "verify.qcow2"
    create_disk(settings.qemu_img, overlay, backing=folder / DISK_FILE)
    hardware = replace(_hardware(settings, overlay), port=free_port())
    try:
        async with run_machine(hardware, folder) as machine:
            try:
                await _reach_agent(AgentCheck(hardware.port, settings.secret, settings.screen), machine)
            except ImageError as error:
                await _fail(machine, folder, error.code, str(error))
            await machine.shut_down(SHUTDOWN_SECONDS)
    except (MachineGone, TimeoutError) as error:
        raise ImageError("agent_not_reached", f"QEMU does not answer: {error}") from error
    finally:
        overlay.unlink(missing_ok=True)


async def _reach_agent(check: AgentCheck, machine: VirtualMachine) -> None:
    """Raises ImageError."""
    ends = time.monotonic() + BOOT_SECONDS
    while (problem := await check.problem()) is not None:
        if machine.ended or time.monotonic() > ends:
            raise ImageError("agent_not_reached", problem)
        await machine.wait(POLL_SECONDS)


def _hardware(settings: ImageSettings, disk: Path) -> Hardware:
    return Hardware(
        qemu=settings.qemu,
        disk=disk,
        screen=settings.screen,
        memory_mib=settings.memory_mib,
        cores=settings.cores,
        accelerated=settings.needs_kvm,
    )


def _publish(settings: ImageSettings, folder: Path, version: str) -> Path:
    """Put the image in its place; the folder of the run becomes that of the image."""
    for path in folder.iterdir():
        if path.name != DISK_FILE:
            path.unlink()
    secret = os.open(folder / SECRET_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(secret, "w") as file:
        file.write(settings.secret)
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest(settings, version), indent=1) + "\n")
    folder.rename(settings.out)
    return settings.out / MANIFEST_FILE


def manifest(settings: ImageSettings, version: str) -> dict[str, Any]:
    """What a made image is, without its secrets."""
    return {
        "format": FORMAT,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "disk": DISK_FILE,
        "medium": {"name": settings.iso.name, "bytes": settings.iso.stat().st_size, "edition": settings.edition},
        "user": USER,
        "language": settings.language,
        "screen": [settings.screen.width, settings.screen.height],
        "shell": settings.shell,
        "memory_mib": settings.memory_mib,
        "cores": settings.cores,
        "agent": {"port": AGENT_PORT, "sha256": agent_digest(), "python": version},
    }
