"""ZIM files by their header: what is served, and every reason why one is not."""

import hashlib
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from protocol.site_tasks import SITE_TASK, ZimSite
from protocol.trajectory.tasks import Task
from vm_bridge.browser import Request
from vm_bridge.config import Config, zim_folder
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.site_tasks import kiwix, zim_site
from vm_bridge.suites.site_tasks.kiwix import PROGRAM, require_kiwix
from vm_bridge.suites.site_tasks.zim_files import HEADER, MAGIC, ZimFile, ZimUnusable, find_zim, read_zim

UUID = "0123456789abcdef0123456789abcdef"


def write_zim(path: Path, *, magic: int = MAGIC, uuid: str = UUID, body: bytes = b"pages") -> Path:
    """A file with a header and its checksum; nothing in it can be served."""
    size = HEADER.size + len(body)
    told = HEADER.pack(magic, 6, 1, bytes.fromhex(uuid), 7, 1, 0, 0, 0, 0, 0, 0, size) + body
    path.write_bytes(told + hashlib.md5(told, usedforsecurity=False).digest())
    return path


def fault_of(path: Path) -> str:
    with pytest.raises(ZimUnusable) as raised:
        read_zim(path).verify()
    assert str(raised.value).startswith(raised.value.fault)
    return raised.value.fault


def test_a_file_is_known_by_its_uuid(tmp_path: Path) -> None:
    zim = read_zim(write_zim(tmp_path / "wiki.zim"))
    zim.verify()
    assert (zim.uuid, zim.entries) == (UUID, 7)
    assert zim.reference == ZimSite(file="wiki.zim", uuid=UUID)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    whole = write_zim(tmp_path / "wiki.zim").read_bytes()
    assert fault_of(tmp_path / "other.zim") == "zim_missing"
    for name, content in (("cut", whole[:-1]), ("empty", b""), ("longer", whole + b"x")):
        (tmp_path / f"{name}.zim").write_bytes(content)
        assert fault_of(tmp_path / f"{name}.zim") == "zim_damaged"
    (tmp_path / "flipped.zim").write_bytes(whole.replace(b"pages", b"pagez"))
    assert fault_of(tmp_path / "flipped.zim") == "zim_damaged"
    assert fault_of(write_zim(tmp_path / "text.zim", magic=1)) == "zim_damaged"


def test_a_task_s_file_is_found_in_the_folder_of_the_bridge(tmp_path: Path) -> None:
    zim = read_zim(write_zim(tmp_path / "wiki.zim"))
    given = {"PILOTHOUSE_ZIM_FOLDER": str(tmp_path)}
    assert find_zim(zim.reference, given) == zim
    for site, environment, fault in (
        (zim.reference, {}, "zim_missing"),
        (ZimSite(file="none.zim", uuid=UUID), given, "zim_missing"),
        (ZimSite(file="wiki.zim", uuid=UUID[::-1]), given, "zim_differs"),
    ):
        with pytest.raises(ZimUnusable) as raised:
            find_zim(site, environment)
        assert (raised.value.fault, raised.value.code) == (fault, "unsupported_task")


@pytest.mark.parametrize("name", ["../wiki.zim", "a/wiki.zim", ".zim", "wiki.txt", "a\\b.zim", "a\0.zim"])
def test_a_task_names_no_file_elsewhere(name: str) -> None:
    with pytest.raises(ValidationError):
        ZimSite(file=name, uuid=UUID)


def test_where_kiwix_is_missing_a_task_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zim = read_zim(write_zim(tmp_path / "wiki.zim"))
    site_task = {"site": zim.reference.model_dump(mode="json"), "check": [], "script": []}
    task = Task(id="q", instruction="?", platform="browser", parameters={SITE_TASK: site_task})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PILOTHOUSE_ZIM_FOLDER", str(tmp_path))
    with pytest.raises(ZimUnusable, match=r"kiwix_missing: .*apt-get install kiwix-tools"):
        WEB_SUITES[SITE_TASK].scene(task)
    (tmp_path / PROGRAM).write_text("#!/bin/sh\n")
    (tmp_path / PROGRAM).chmod(0o700)
    assert require_kiwix() == str(tmp_path / PROGRAM)
    assert WEB_SUITES[SITE_TASK].scene(task).url == zim_site.URL


async def test_a_server_that_ends_at_once_is_a_failed_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    false = shutil.which("false")
    assert false is not None
    (tmp_path / PROGRAM).symlink_to(false)
    monkeypatch.setenv("PATH", str(tmp_path))
    site = zim_site.ZimWebsite(read_zim(write_zim(tmp_path / "wiki.zim", uuid="f" * 32)))
    answer = await site.answer(Request("GET", zim_site.URL, {}, b"", "Document"))
    assert answer.failure == "ConnectionFailed"
    elsewhere = await site.answer(Request("GET", "http://other.test/", {}, b"", "Document"))
    assert elsewhere.failure == "NameNotResolved"


def test_the_server_that_was_not_used_for_longest_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Server:
        def __init__(self, zim: ZimFile) -> None:
            self.zim, self.is_running = zim, True

        def close(self) -> None:
            self.is_running = False

    monkeypatch.setattr(kiwix, "KiwixServer", Server)
    monkeypatch.setattr(kiwix, "MAX_SERVERS", 2)
    zims = [read_zim(write_zim(tmp_path / f"{n}.zim", uuid=f"{n:032x}")) for n in range(3)]
    first, second = kiwix.serve(zims[0]), kiwix.serve(zims[1])
    assert kiwix.serve(zims[0]) is first
    third = kiwix.serve(zims[2])
    assert [one.is_running for one in (first, second, third)] == [True, False, True]
    assert kiwix.serve(zims[1]).is_running
    assert not first.is_running
    kiwix.stop_servers()
    assert not third.is_running


def test_the_folder_is_a_setting(tmp_path: Path) -> None:
    assert zim_folder({}) is None
    assert zim_folder({"PILOTHOUSE_ZIM_FOLDER": str(tmp_path)}) == tmp_path
    assert Config.model_fields["zim_folder"].default is None
