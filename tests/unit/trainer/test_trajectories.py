"""The seam to the trainer: a folder comes back as the trajectories written, or is refused with a reason."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from protocol.actions.types import Click
from protocol.trajectory.export_folders import MANIFEST, TRAJECTORIES, ExportedFile, ExportManifest
from tests.unit.protocol.examples import ACTIONS, step, trajectory
from tests.unit.trainer.trajectory_folders import write_manifest, write_trajectory_folder
from trainer.data.trajectories import main, open_folder, open_folders
from trainer.errors import FolderDamaged, FolderError, FolderUnfinished, FolderUnknown, TrajectoryUnreadable

FIRST = trajectory(*ACTIONS)
SECOND = trajectory(Click(x=1, y=2), id="trajectory-2", outcome="failure")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "export-1"
    write_trajectory_folder(path, FIRST, SECOND)
    return path


def test_what_was_written_comes_back(folder: Path) -> None:
    opened = open_folder(folder)
    assert list(opened.trajectories()) == [FIRST, SECOND]
    picture = FIRST.steps[3].before.screenshot
    assert picture is not None
    assert opened.image(picture).read_bytes() == b"screen-3"


def test_of_an_inbox_everything_whole_is_read_as_it_came(tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    for name, whole in (("2-b", SECOND), ("1-a", FIRST), ("3-c.tmp", FIRST), (".taken", SECOND)):
        write_trajectory_folder(inbox / name, whole)
    plain = tmp_path / "plain"
    write_trajectory_folder(plain, SECOND)
    read = [one for folder in open_folders([inbox, plain]) for one in folder.trajectories()]
    assert read == [FIRST, SECOND, SECOND]
    write_trajectory_folder(inbox / "4-d", FIRST)
    assert len([*open_folders([inbox])]) == 3, "what has come since is read the next time"
    with pytest.raises(FolderUnknown):
        list(open_folders([tmp_path / "nowhere"]))


def test_an_empty_folder_of_trajectories_is_a_folder(tmp_path: Path) -> None:
    write_trajectory_folder(tmp_path / "empty")
    assert list(open_folder(tmp_path / "empty").trajectories()) == []


def test_a_half_written_folder_is_refused(folder: Path) -> None:
    aside = folder.rename(folder.with_name("export-2.tmp"))
    with pytest.raises(FolderUnfinished, match="still being written"):
        open_folder(aside)


def test_a_folder_without_manifest_is_refused(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    with pytest.raises(FolderUnfinished, match="no manifest"):
        open_folder(folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "pilothouse-export-99"}'])
def test_another_format_is_refused(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(FolderUnknown, match="cannot be read"):
        open_folder(folder)


def test_no_folder_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderUnknown):
        open_folder(tmp_path / "nothing")


@pytest.mark.parametrize("content", [b"screen-9", b"", b"longer than the others"])
def test_an_altered_picture_is_refused(folder: Path, content: bytes) -> None:
    next((folder / "images").iterdir()).write_bytes(content)
    with pytest.raises(FolderDamaged):
        open_folder(folder)


def test_a_missing_picture_is_refused(folder: Path) -> None:
    next((folder / "images").iterdir()).unlink()
    with pytest.raises(FolderDamaged, match="missing"):
        open_folder(folder)


def test_a_picture_the_manifest_does_not_list_is_refused(folder: Path) -> None:
    manifest = open_folder(folder).manifest
    fewer = tuple(file for file in manifest.files if not file.path.startswith("images/"))
    write_manifest(folder, manifest.model_copy(update={"files": fewer}))
    with pytest.raises(FolderDamaged, match="line 1 refers to a picture"):
        list(open_folder(folder).trajectories())


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "images/../../secret", "", ".", "link"])
def test_a_manifest_cannot_point_outside(folder: Path, path: str) -> None:
    (folder.parent / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(folder.parent / "secret")
    manifest = open_folder(folder).manifest
    outside = ExportedFile(path=path, sha256="0" * 64, size=6)
    write_manifest(folder, manifest.model_copy(update={"files": (*manifest.files, outside)}))
    with pytest.raises(FolderDamaged):
        open_folder(folder)


def test_trajectories_that_are_not_listed_are_refused(folder: Path) -> None:
    manifest = open_folder(folder).manifest
    others = tuple(file for file in manifest.files if file.path != TRAJECTORIES)
    write_manifest(folder, manifest.model_copy(update={"files": others}))
    with pytest.raises(FolderDamaged, match="does not list"):
        open_folder(folder)


def test_a_wrong_count_is_refused(folder: Path) -> None:
    manifest = open_folder(folder).manifest
    counts = manifest.counts.model_copy(update={"trajectories": 3})
    write_manifest(folder, manifest.model_copy(update={"counts": counts}))
    with pytest.raises(FolderDamaged, match="3 trajectories, the folder has 2"):
        open_folder(folder)


@pytest.mark.parametrize("line", [b"{}\n", b"not json\n", b'{"format": "pilothouse-trajectory-2"}\n'])
def test_a_line_that_is_no_trajectory_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "export"
    manifest = write_trajectory_folder(path, SECOND)
    _relist(path, manifest, (path / TRAJECTORIES).read_bytes() + line)
    with pytest.raises(TrajectoryUnreadable, match="line 2"):
        list(open_folder(path).trajectories())


def _relist(path: Path, manifest: ExportManifest, content: bytes) -> None:
    """Replace the trajectories, and make the manifest agree."""
    (path / TRAJECTORIES).write_bytes(content)
    listed = ExportedFile(path=TRAJECTORIES, sha256=sha256(content).hexdigest(), size=len(content))
    files = (listed, *(file for file in manifest.files if file.path != TRAJECTORIES))
    counts = manifest.counts.model_copy(update={"trajectories": content.count(b"\n")})
    write_manifest(path, manifest.model_copy(update={"files": files, "counts": counts}))


def test_the_command_sums_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = step(0, Click(x=1, y=2), actor="policy", decision="accept")
    write_trajectory_folder(tmp_path / "export", trajectory(steps=(accepted, step(1, Click(x=3, y=4)))), SECOND)
    assert main([str(tmp_path / "export")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["trajectories"] == 2
    assert printed["outcomes"] == {"failure": 1, "success": 1}
    assert printed["decisions"] == {"accept": 1, "override": 2}
    assert printed["actors"] == {"human": 2, "policy": 1}


def test_the_command_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "export.tmp")]) == 1
    assert capsys.readouterr().err == "folder_unfinished: export.tmp is still being written\n"


def test_every_refusal_has_its_own_code() -> None:
    kinds = (FolderUnfinished, FolderUnknown, FolderDamaged, TrajectoryUnreadable)
    assert all(issubclass(kind, FolderError) for kind in kinds)
    assert len({kind.code for kind in kinds}) == len(kinds)
