"""The stages of an image, with a stand-in for QEMU and the agent's own door for the verification."""

import asyncio
import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.vm_bridge.windows_image.test_answer_file import python_package
from tests.unit.vm_bridge.windows_image.test_medium import windows_medium
from tests.waiting import eventually
from vm_bridge.guest.common.machine_io import MachineIO
from vm_bridge.guest.common.server import Message, Server
from vm_bridge.guest.windows.host_listener import SecretHostListener
from vm_bridge.windows_image import build, virtual_machine
from vm_bridge.windows_image.__main__ import main
from vm_bridge.windows_image.build import make_image
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.machines import MadeImage, bridge_settings
from vm_bridge.windows_image.settings import DISK_FILE, MANIFEST_FILE, SECRET_FILE, ImageSettings, Screen
from vm_bridge.windows_image.virtual_machine import Hardware

STAND_IN = Path(__file__).with_name("stand_in.py")
SCREEN = Screen(1024, 768)
READY = {"serial": ["firmware's words", "pilothouse begin", "pilothouse ready"], "ends": True}
VERIFIED = {"serial": [], "ends": False}


class Plan:
    """What the stand-in does, and how often it was started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.set(install=READY, verify=VERIFIED)

    def set(self, **phases: dict[str, object]) -> None:
        for name, what in phases.items():
            (self.folder / f"{name}.json").write_text(json.dumps(what))

    @property
    def started(self) -> list[str]:
        path = self.folder / "started"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(tmp_path / "plan")


@pytest.fixture
def settings(tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> ImageSettings:
    """A medium and a Python that look right, and programs that stand for QEMU's."""
    qemu, qemu_img = tmp_path / "qemu", tmp_path / "qemu-img"
    qemu.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {plan.folder} "$@"\n')
    qemu_img.write_text(
        '#!/bin/sh\nfor word; do case "$word" in *.qcow2) last=$word;; esac; done; echo disk > "$last"\n'
    )
    for program in (qemu, qemu_img):
        program.chmod(0o755)
    monkeypatch.setattr(build, "install_packages", lambda version, folder: folder.mkdir())
    monkeypatch.setattr(build, "NEEDED_BYTES", 0)
    monkeypatch.setattr(build, "POLL_SECONDS", 0.02)
    return ImageSettings(
        iso=windows_medium(tmp_path / "windows.iso"),
        python=python_package(tmp_path / "python.zip"),
        out=tmp_path / "image",
        screen=SCREEN,
        qemu=str(qemu),
        qemu_img=str(qemu_img),
        needs_kvm=False,
    )


@pytest.fixture
def agent(settings: ImageSettings, monkeypatch: pytest.MonkeyPatch) -> list[Screen]:
    """An agent behind the port of the verification, with the secret; its screen can be set before."""
    screens = [SCREEN]

    def port() -> int:
        listener = SecretHostListener("127.0.0.1", 0, secret_of(settings))
        server = Server(listener, lambda width, height: NoDesktop(), MachineIO(), home="", tools={})
        server.begin(screens[0].width, screens[0].height)
        threading.Thread(target=server.serve, daemon=True).start()
        return listener.address[1]

    monkeypatch.setattr(build, "free_port", port)
    return screens


class NoDesktop:
    """Nobody looks at it."""

    def observe(self, *, settle: bool) -> Message:
        raise NotImplementedError

    def perform(self, action: Message, *, settle: bool, wait_for_timers: bool) -> Message:
        raise NotImplementedError

    def frame(self, serial: int, wait: float) -> Message:
        raise NotImplementedError

    def interrupt(self) -> None:
        """Nothing runs."""

    def cancel_frame_wait(self) -> None:
        """Nobody waits."""


def secret_of(settings: ImageSettings) -> str:
    """What the first run chose."""
    made = settings.out.with_name(f".{settings.out.name}.making") / "state.json"
    return str(json.loads(made.read_text())["secret"])


def make(settings: ImageSettings) -> list[str]:
    """The lines of progress."""
    said: list[str] = []
    asyncio.run(make_image(settings, said.append))
    return said


def failing(settings: ImageSettings) -> ImageError:
    with pytest.raises(ImageError) as failed:
        make(settings)
    return failed.value


@pytest.mark.usefixtures("agent")
def test_one_run_makes_the_disk_the_manifest_and_the_secret(settings: ImageSettings, plan: Plan) -> None:
    said = make(settings)
    assert plan.started == ["install", "verify"]
    assert [line.partition(":")[0] for line in said if "done" in line] == ["medium", "install", "verify"]
    assert sorted(path.name for path in settings.out.iterdir()) == sorted((DISK_FILE, MANIFEST_FILE, SECRET_FILE))
    made = json.loads((settings.out / MANIFEST_FILE).read_text())
    assert (made["screen"], made["agent"]["port"], made["medium"]["name"]) == ([1024, 768], 8015, "windows.iso")
    secret = (settings.out / SECRET_FILE).read_text()
    assert len(secret) == 64
    assert secret not in json.dumps(made)
    assert (settings.out / SECRET_FILE).stat().st_mode & 0o077 == 0
    assert not settings.out.with_name(".image.making").exists()


@pytest.mark.usefixtures("agent")
def test_what_is_done_is_not_done_again(settings: ImageSettings, plan: Plan) -> None:
    plan.set(install={"serial": ["pilothouse begin"], "ends": True})
    assert failing(settings).code == "install_failed"
    secret = secret_of(settings)
    plan.set(install=READY)
    said = make(replace(settings, secret="another", password="another"))
    assert "medium: done by an earlier run" in said
    assert plan.started == ["install", "install", "verify"]
    assert (settings.out / SECRET_FILE).read_text() == secret


@pytest.mark.usefixtures("agent")
def test_other_settings_begin_again(settings: ImageSettings, plan: Plan) -> None:
    plan.set(install={"serial": [], "ends": True})
    failing(settings)
    plan.set(install=READY)
    said = make(replace(settings, edition=2))
    assert "an earlier run had other settings: everything begins again" in said


def test_a_step_that_fails_inside_is_named_with_the_screen(settings: ImageSettings, plan: Plan) -> None:
    plan.set(install={"serial": ["pilothouse begin", "pilothouse failed files"], "ends": False})
    error = failing(settings)
    assert error.code == "install_failed"
    assert "failed files" in str(error)
    picture = settings.out.with_name(".image.making") / "screen.png"
    assert str(picture) in str(error)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_installation_without_end_is_timed_out_with_the_screen(settings: ImageSettings, plan: Plan) -> None:
    plan.set(install={"serial": [], "ends": False})
    error = failing(replace(settings, timeout_minutes=0))
    assert error.code == "install_timed_out"
    assert "screen.png" in str(error)


def test_a_disk_whose_agent_does_not_answer_is_no_image(settings: ImageSettings, plan: Plan) -> None:
    plan.set(verify={"serial": [], "ends": True})
    error = failing(settings)
    assert error.code == "agent_not_reached"
    assert not settings.out.exists()


def test_an_agent_with_another_screen_is_none_either(
    settings: ImageSettings, agent: list[Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BOOT_SECONDS", 0.5)
    agent[0] = Screen(800, 600)
    error = failing(settings)
    assert error.code == "agent_not_reached"
    assert "800x600, not 1024x768" in str(error)


def test_a_run_that_is_cancelled_ends_qemu_and_goes_on_later(settings: ImageSettings, plan: Plan) -> None:
    plan.set(install={"serial": [], "ends": False})

    async def cancelled() -> None:
        begun = asyncio.Event()
        making = asyncio.create_task(make_image(settings, lambda line: begun.set() if "install" in line else None))
        await begun.wait()
        await eventually(lambda: bool(plan.started))
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making

    asyncio.run(cancelled())
    assert json.loads((settings.out.with_name(".image.making") / "state.json").read_text())["done"] == ["medium"]


def test_what_is_missing_is_said_before_anything_is_made(
    settings: ImageSettings, plan: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert failing(replace(settings, qemu="no-such-qemu")).code == "no_program"
    monkeypatch.setattr(virtual_machine, "KVM", tmp_path / "no-kvm")
    assert failing(replace(settings, needs_kvm=True)).code == "no_kvm"
    assert failing(replace(settings, iso=tmp_path / "none.iso")).code == "iso_missing"
    assert failing(replace(settings, python=settings.iso)).code == "python_not_windows"
    monkeypatch.setattr(build, "NEEDED_BYTES", 2**60)
    assert failing(settings).code == "no_space"
    settings.out.mkdir()
    assert failing(settings).code == "image_exists"
    assert plan.started == []
    assert not settings.out.with_name(".image.making").exists()


def test_two_runs_make_no_image_at_one_time(settings: ImageSettings) -> None:
    with build._locked(settings.out.with_name(".image.making")):
        assert failing(settings).code == "busy"


def test_the_machine_has_two_media_for_the_installation_and_no_network(tmp_path: Path) -> None:
    media = (tmp_path / "windows,11.iso", tmp_path / "answers.iso")
    hardware = Hardware("qemu", tmp_path / "disk.qcow2", SCREEN, 4096, 2, media=media)
    line = " ".join(hardware.command(tmp_path / "qmp.sock", tmp_path / "serial.log"))
    assert "windows,,11.iso" in line
    assert "ide-cd,drive=medium1,bus=ide.1,bootindex=2" in line
    assert "ide-hd,drive=disk,bus=ide.0,bootindex=1" in line
    assert "-netdev" not in line
    assert "-accel kvm" in line
    assert "VGA,edid=on,xres=1024,yres=768" in line


def test_a_made_machine_has_one_port_of_the_loopback_and_nothing_else(tmp_path: Path) -> None:
    hardware = Hardware("qemu", tmp_path / "disk.qcow2", SCREEN, 4096, 2, port=5101)
    line = " ".join(hardware.command(tmp_path / "qmp.sock", tmp_path / "serial.log"))
    assert "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:5101-:8015" in line
    assert "ide-cd" not in line


def test_the_bridge_is_told_where_the_machines_are_and_how_they_are_put_back(tmp_path: Path) -> None:
    image = MadeImage(tmp_path, {}, "s" * 64)
    assert bridge_settings(image, (5101, 5102)) == [
        "PILOTHOUSE_WINDOWS=127.0.0.1:5101,127.0.0.1:5102",
        f"PILOTHOUSE_WINDOWS_SECRET={'s' * 64}",
        f"PILOTHOUSE_WINDOWS_REVERT=python -m vm_bridge.hosts.qemu_revert {tmp_path}/machines",
    ]


@pytest.mark.parametrize("command", ["start", "stop"])
def test_a_folder_that_is_no_image_is_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(tmp_path), "--ports", "5101"]) == 1
    assert capsys.readouterr().err.startswith("image_missing: ")


def test_the_command_line_ends_with_a_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--iso",
        str(tmp_path / "none.iso"),
        "--python",
        str(tmp_path / "none.zip"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["make", *words]) == 1
    assert capsys.readouterr().err.partition(":")[0] in {"no_program", "no_kvm", "iso_missing"}
