"""A browser is put behind walls, or not started; who accepts it without says so once."""

import os
from pathlib import Path

import pytest

from vm_bridge.browser import BubblewrapUnavailable, Engine, process
from vm_bridge.browser.bubblewrap import check_sandbox
from vm_bridge.browser.process import HEADLESS_SHELL, browser_build_time
from vm_bridge.config import ConfigError, browser_unsandboxed
from vm_bridge.errors import ERRORS, NoMachine, SandboxUnavailable
from vm_bridge.hosts.browser.host import BrowserHost

REFUSAL = "bwrap: No permissions to create new namespace, likely because the kernel does not allow it"


@pytest.fixture
def forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's bubblewrap is refused its namespaces, as an unprivileged one is where the kernel forbids them."""
    bwrap = tmp_path / "bin" / "bwrap"
    bwrap.parent.mkdir()
    bwrap.write_text(f"#!/bin/sh\necho '{REFUSAL}' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    for folder in (tmp_path, bwrap.parent):
        folder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bwrap.parent}:/usr/bin:/bin")
    monkeypatch.setattr("vm_bridge.isolation.users.os.geteuid", lambda: 1000)


@pytest.mark.usefixtures("forbidden")
async def test_no_browser_is_started_where_walls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BubblewrapUnavailable, match="sysctl"):
        await Engine.start(tmp_path / "engine", exact=True)
    assert not (tmp_path / "engine").exists(), "nothing was begun"


@pytest.mark.usefixtures("forbidden")
async def test_a_machine_without_walls_is_refused_with_a_code_and_a_way_out(tmp_path: Path) -> None:
    host = BrowserHost(tmp_path / "host")
    with pytest.raises(SandboxUnavailable, match="PILOTHOUSE_BROWSER_UNSANDBOXED") as refused:
        await host.create("browser")
    await host.close()
    assert isinstance(refused.value, NoMachine), "who waits for a machine is told as of any that cannot be made"
    assert ERRORS[refused.value.code] is SandboxUnavailable


async def test_a_missing_bubblewrap_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BubblewrapUnavailable, match="install the package bubblewrap"):
        await check_sandbox()


@pytest.mark.parametrize(("said", "meant"), [({}, False), ({"PILOTHOUSE_BROWSER_UNSANDBOXED": "true"}, True)])
def test_doing_without_is_said_in_one_place(said: dict[str, str], meant: bool) -> None:
    assert browser_unsandboxed(said) is meant


def test_a_word_that_is_neither_is_refused() -> None:
    with pytest.raises(ConfigError, match="PILOTHOUSE_BROWSER_UNSANDBOXED"):
        browser_unsandboxed({"PILOTHOUSE_BROWSER_UNSANDBOXED": "maybe"})


def test_a_browser_is_as_old_as_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script that Debian puts on the path changes more rarely than the program behind it."""
    script, program = tmp_path / "bin" / HEADLESS_SHELL, tmp_path / "lib" / HEADLESS_SHELL
    monkeypatch.setenv("PATH", str(script.parent))
    monkeypatch.setattr(process, "PROGRAM_FOLDER", program.parent)
    assert browser_build_time() is None
    for file, at in ((script, 1_000), (program, 2_000)):
        file.parent.mkdir()
        file.write_text("#!/bin/sh")
        file.chmod(0o755)
        os.utime(file, (at, at))
        assert browser_build_time() == at
