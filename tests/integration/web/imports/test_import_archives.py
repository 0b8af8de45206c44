"""Archives that mean harm: what climbs out of its folder, what is no archive, what is cut off, what is a bomb."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation_app.episodes.models import Episode
from tests.integration.web.conftest import World
from tests.integration.web.imports.import_helpers import build_archive, upload


def tar_of(change: Callable[[tarfile.TarInfo], None]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        entry = tarfile.TarInfo("rows.jsonl")
        entry.size = 3
        change(entry)
        archive.addfile(entry, io.BytesIO(b"{}\n"))
    return made.getvalue()


def named(name: str) -> bytes:
    return tar_of(lambda entry: setattr(entry, "name", name))


def linked(entry: tarfile.TarInfo) -> None:
    entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (named("../../outside.jsonl"), "archive_name"),
        (named("/etc/outside.jsonl"), "archive_name"),
        (build_archive(**{"..\\outside.jsonl": b"{}"}), "archive_name"),
        (tar_of(linked), "archive_link"),
        (b"PK\x03\x04 and then nothing of the sort", "archive_broken"),
        (b"\x1f\x8b\x08 and then nothing of the sort\x00", "archive_broken"),
        (b"", "no_rows"),
        (b"\n\n", "no_rows"),
        (b"no json\n", "all_refused"),
        (build_archive(**{"readme.txt": b"nothing"}), "no_rows"),
        (build_archive(**{"rows.jsonl": b"{}\n"})[:-30], "archive_broken"),
    ],
)
def test_hostile_archives_change_nothing(committed: World, tmp_path: Path, data: bytes, code: str) -> None:
    told = upload(committed, data, "hostile.zip")
    assert (told["status"], told["code"], told["imported"]) == ("failed", code, 0)
    assert not [path for path in tmp_path.rglob("outside*")]
    assert not Episode.objects.exists()


def test_a_bomb_is_not_unpacked(committed: World, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"import_limit": 1_000_000})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.jsonl", b"0" * 50_000_000)
    told = upload(committed, made.getvalue())
    assert (told["status"], told["code"]) == ("failed", "archive_too_large")
    client = committed.client(committed.ravi)
    answer = client.post("/api/imports", {"file": SimpleUploadedFile("much.zip", b"0" * 1_000_001)})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
