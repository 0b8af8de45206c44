"""The client's uploads against a real server: parts that are lost, damaged or sent twice; a process that is killed."""

import asyncio
import errno
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from annotation_app.accounts.services import token_make
from annotation_app.asgi import application
from annotation_app.client import Pilothouse, errors, uploads
from annotation_app.client.connection import Connection
from annotation_app.imports.models import Import, Upload
from annotation_app.imports.selectors import import_folder
from annotation_app.imports.services import uploads as services_uploads
from tests.integration.web.conftest import World, serving

ROWS = b"".join(json.dumps({"row": number}).encode() + b"\n" for number in range(50))
PART = 128


@pytest.fixture
async def client(committed: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pilothouse]:
    """Ravi's, whose token reaches imports alone."""
    monkeypatch.setattr(uploads, "PART_BYTES", PART)
    monkeypatch.setattr(uploads, "RETRY_PAUSES_SECONDS", (0.0, 0.0))
    token = await sync_to_async(token_make)(
        username="ravi", name="tests", days=1, scopes=("imports:read", "imports:write")
    )
    async with serving(lambda url: application) as url:
        with Pilothouse(url, token) as made:
            yield made
    await sync_to_async(connections.close_all)()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(ROWS)
    return file


class Killed(BaseException):
    """The process ends here; nothing catches it."""


class Line:
    """What happens on the way of each part, in order; nothing once the list is used up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *faults: str) -> None:
        self.faults, self.offsets = list(faults), list[int]()
        self._send = Connection.send
        monkeypatch.setattr(Connection, "send", lambda *words, **call: self.send(*words, **call))

    def send(
        self, connection: Connection, method: str, path: str, headers: Any, content: bytes = b"", **call: Any
    ) -> httpx.Response:
        if method != "PATCH":
            return self._send(connection, method, path, headers, content, **call)
        self.offsets.append(int(headers["Upload-Offset"]))
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "killed":
            raise Killed
        if fault == "lost":
            raise errors.Unreachable("lost on the way")
        if fault == "damaged":
            content = b"#" + content[1:]
        answer = self._send(connection, method, path, headers, content, **call)
        if fault == "unanswered":
            raise errors.Unreachable("the answer was lost")
        return answer


def imported() -> bytes:
    """What arrived, as the import has it (it holds no trajectories, so it failed and is kept)."""
    return (import_folder(Import.objects.get().pk) / "upload").read_bytes()


async def test_lost_parts_and_lost_answers_are_caught_up_with(
    client: Pilothouse, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(monkeypatch, "", "lost", "", "unanswered", "lost", "lost", "")
    heard: list[int] = []
    await asyncio.to_thread(client.import_start, rows, progress=lambda received, size: heard.append(received))
    assert await sync_to_async(imported)() == ROWS
    assert line.offsets[:3] == [0, PART, PART], "a lost part is sent again"
    assert line.offsets[3:5] == [2 * PART, 3 * PART], "one whose answer was lost is not"
    assert heard == sorted(heard)
    assert heard[-1] == len(ROWS)


async def test_another_process_resumes_what_was_killed(
    client: Pilothouse, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Line(patch, "", "", "killed")
        with pytest.raises(Killed):
            await asyncio.to_thread(client.import_start, rows)
    line = Line(monkeypatch)
    await asyncio.to_thread(client.import_start, rows)
    assert line.offsets[0] == 2 * PART
    assert await sync_to_async(imported)() == ROWS


async def test_a_damaged_part_is_sent_again(client: Pilothouse, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line(monkeypatch, "", "damaged")
    await asyncio.to_thread(client.import_start, rows)
    assert line.offsets[:4] == [0, PART, PART, 2 * PART]
    assert await sync_to_async(imported)() == ROWS


async def test_a_full_disk_ends_the_upload_at_once(
    client: Pilothouse, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    line = Line(monkeypatch)
    monkeypatch.setattr(services_uploads, "_write", full)
    with pytest.raises(errors.ServerFailed) as failed:
        await asyncio.to_thread(client.import_start, rows)
    assert failed.value.code == "disk_full"
    assert line.offsets == [0]


async def test_a_changed_file_is_uploaded_from_the_start(
    client: Pilothouse, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Line(patch, "", "lost", "lost", "lost")
        with pytest.raises(errors.Unreachable):
            await asyncio.to_thread(client.import_start, rows)
    changed = ROWS.replace(b"49", b"94")
    await asyncio.to_thread(rows.write_bytes, changed)
    line = Line(monkeypatch)
    await asyncio.to_thread(client.import_start, rows)
    assert line.offsets[0] == 0
    assert await sync_to_async(imported)() == changed
    assert await sync_to_async(Upload.objects.count)() == 1, "the unfinished one expires"
