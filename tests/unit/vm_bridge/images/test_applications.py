"""The image with applications: offered where they are installed, and made without what belongs to another."""

from pathlib import Path

import pytest

from annotation_app.operations.install.system_packages import APPLICATION_PACKAGES
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.errors import ApplicationMissing, NoMachine
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.images import build, manifest
from vm_bridge.images.build import IMAGES, list_images, prepare_image
from vm_bridge.images.manifest import Application, missing_applications, read_manifest

MANIFEST = read_manifest(IMAGES / APPLICATIONS_IMAGE)


def test_every_application_of_the_image_is_a_package_that_is_installed_for_it() -> None:
    assert len(MANIFEST.applications) >= 6
    assert {each.package for each in MANIFEST.applications} <= {each.package for each in APPLICATION_PACKAGES}


def test_a_host_without_its_applications_does_not_offer_the_image_and_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(manifest, "PROGRAM_FOLDERS", str(tmp_path))
    with caplog.at_level("INFO"):
        host = LocalHost(tmp_path)
    assert "the image applications needs LibreOffice Writer" in caplog.text
    assert "application_missing" in caplog.text
    assert APPLICATIONS_IMAGE not in host.images
    assert "desktop" in host.images
    assert [each.name for each in missing_applications(MANIFEST)] == [each.name for each in MANIFEST.applications]


async def test_who_asks_for_it_there_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "PROGRAM_FOLDERS", str(tmp_path))
    host = LocalHost(tmp_path)
    with pytest.raises(ApplicationMissing, match=r"needs LibreOffice Writer.*apt-get install libreoffice-writer"):
        await host.create(APPLICATIONS_IMAGE)
    with pytest.raises(NoMachine, match="there is no image 'nothing'"):
        await host.create("nothing")


def test_a_host_with_all_of_them_offers_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in MANIFEST.applications:
        (tmp_path / each.program).touch(mode=0o755)
    monkeypatch.setattr(manifest, "PROGRAM_FOLDERS", str(tmp_path))
    assert APPLICATIONS_IMAGE in LocalHost(tmp_path).images
    assert not Application(name="X", program="x", package="x").installed


def test_its_home_has_the_base_beneath_but_not_the_icons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run_step", lambda *command, folder=None: None)
    monkeypatch.setattr(build, "run_command_step", lambda *command, folder=None: None)
    folder = prepare_image(APPLICATIONS_IMAGE, tmp_path)
    home = folder / "home"
    assert (home / ".config" / "openbox" / "rc.xml").read_bytes() == (
        IMAGES / "desktop" / "home" / ".config" / "openbox" / "rc.xml"
    ).read_bytes()
    assert "thunderbird" in (home / ".config" / "openbox" / "menu.xml").read_text()
    assert not list((home / "Desktop").iterdir())
    assert not list(home.rglob(build.KEEP_FILE))
    assert {"Desktop", "Documents", "Downloads"} <= {each.name for each in home.iterdir()}
    assert (folder / "site" / "vm_bridge" / "guest" / "osworld" / "main.py").exists()
    assert APPLICATIONS_IMAGE in list_images()
