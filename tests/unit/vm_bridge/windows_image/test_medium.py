"""Media that are written and read with the real library."""

import io
from pathlib import Path

import pycdlib
import pytest

from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.medium import check_windows_medium, write_medium

FILES = {"SOURCES": "install.wim", "EFI/BOOT": "bootx64.efi"}


def windows_medium(path: Path, files: dict[str, str] | None = None) -> Path:
    """A medium of UDF's form with files of these names, as Microsoft's has them."""
    medium = pycdlib.PyCdlib()
    medium.new(interchange_level=3, udf="2.60")
    folders: set[str] = set()
    for number, (folder, name) in enumerate((FILES if files is None else files).items()):
        parts = folder.split("/")
        for depth in range(1, len(parts) + 1):
            place = "/".join(parts[:depth])
            if place not in folders:
                folders.add(place)
                medium.add_directory(f"/{place}", udf_path=f"/{place.lower()}")
        medium.add_fp(io.BytesIO(b"data"), 4, f"/{folder}/F{number}.;1", udf_path=f"/{folder.lower()}/{name}")
    medium.write(str(path))
    medium.close()
    return path


def test_a_medium_of_windows_is_taken(tmp_path: Path) -> None:
    check_windows_medium(windows_medium(tmp_path / "windows.iso"))


@pytest.mark.parametrize("files", [{}, {"SOURCES": "install.wim"}, {"EFI/BOOT": "bootx64.efi"}])
def test_one_that_installs_no_64_bit_windows_is_not(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(ImageError) as failed:
        check_windows_medium(windows_medium(tmp_path / "other.iso", files))
    assert failed.value.code == "iso_not_windows"


def test_neither_is_what_is_no_medium(tmp_path: Path) -> None:
    (tmp_path / "text.iso").write_text("text")
    for name, code in (("text.iso", "iso_not_windows"), ("missing.iso", "iso_missing")):
        with pytest.raises(ImageError) as failed:
            check_windows_medium(tmp_path / name)
        assert failed.value.code == code


def test_what_is_written_is_read_back_by_its_long_names(tmp_path: Path) -> None:
    (tmp_path / "files").write_bytes(bytes(range(256)) * 100)
    files: dict[str, bytes | Path] = {
        "autounattend.xml": b"<unattend/>",
        "pilothouse/setup.cmd": b"@echo off\r\n",
        "pilothouse/files.zip": tmp_path / "files",
    }
    write_medium(tmp_path / "answers.iso", files)
    medium = pycdlib.PyCdlib()
    medium.open(str(tmp_path / "answers.iso"))
    try:
        for name, content in files.items():
            got = io.BytesIO()
            medium.get_file_from_iso_fp(got, joliet_path=f"/{name}")
            assert got.getvalue() == (content.read_bytes() if isinstance(content, Path) else content)
    finally:
        medium.close()
