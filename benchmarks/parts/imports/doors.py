"""What becomes of corrupt files at each way in: `python -m benchmarks.parts.imports.doors WHAT …` prints a JSON line.

Runs in one process over a seeded database: `rows FOLDER`, `uploads`, `sockets`.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import django

from benchmarks.parts.figures import floor_share
from benchmarks.parts.fuzzing.imports import corrupt_rows
from benchmarks.parts.fuzzing.task_uploads import fuzz_uploads, generate_uploads

SEED = 30
CORRUPT_ROWS = 2_000
UPLOADS = 10_000
UPLOADS_SENT = 1_000
"""Of those that are read, how many are sent by HTTP as well and stored."""
SOCKETS = 200
FIRST = 5
"""Faults that are printed."""
SOCKET_SECONDS = 30.0
POOL = "corrupt rows"


def import_corrupt_rows(*folders: str) -> dict[str, Any]:
    """Import corrupt rows of the exports in these folders; the pictures are those of the last."""
    from annotation_app.imports.services import import_folder_run

    files = [next(path for path in Path(folder).glob("*.jsonl") if path.name in ROW_FILES) for folder in folders]
    rows = [json.loads(line) for file in files for line in itertools.islice(file.open("rb"), 20)]
    files[-1].write_bytes(b"".join(corrupt_rows(rows, seed=SEED, count=CORRUPT_ROWS)))
    job = import_folder_run(folder=Path(folders[-1]), pool=POOL)
    assert (job.status, job.line) == ("done", CORRUPT_ROWS), (job.status, job.line, job.error)
    told = {line for line, code, message in job.refusals.values_list("line", "code", "message") if code and message}
    bad = CORRUPT_ROWS - job.imported - job.known
    return {"import_bad_rows": bad, "import_bad_rows_told_share": floor_share(len(told), bad)}


def send_uploads() -> dict[str, Any]:
    """Read corrupt files of tasks, and send some of them as an admin's browser does."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client

    from annotation_app.accounts.services import user_ensure
    from annotation_app.tasks.services import pool_ensure

    fuzzed = fuzz_uploads(seed=SEED, count=UPLOADS)
    client, pool = (
        Client(SERVER_NAME="127.0.0.1", raise_request_exception=False),
        pool_ensure(name="uploads", members=[]),
    )
    client.force_login(user_ensure(username="admin", password="", name="", roles=["admin"]))
    problems = list(fuzzed.problems)
    for kind, data in generate_uploads(seed=SEED + 1, count=UPLOADS_SENT):
        body = {"file": SimpleUploadedFile("tasks", data), "kind": kind}
        answer = client.post(f"/api/pools/{pool.pk}/tasks", body)
        if answer.status_code >= 500:
            problems.append(f"{kind}: {answer.status_code} {answer.content[:300]!r} for {data[:200]!r}")
    return {
        "uploads_fuzzed": UPLOADS + UPLOADS_SENT,
        "upload_crashes": len(problems),
        "upload_crashes_first": problems[:FIRST],
    }


def open_sockets() -> dict[str, Any]:
    """Open episodes of corrupt rows in a browser's socket, half of them with numbers that are none in what is stored,
    as earlier releases could store them; what comes down is parsed as browsers parse it."""
    from annotation_app.episodes.models import Episode

    episodes = list(Episode.objects.filter(task__pool__name=POOL).order_by("pk").values_list("pk", flat=True)[:SOCKETS])
    assert len(episodes) == SOCKETS, len(episodes)
    _store_non_finite(episodes[: SOCKETS // 2])
    bad = [error for error in asyncio.run(_first_messages(episodes)) if error]
    return {
        "sockets_opened": len(episodes),
        "non_json_in_socket": len(bad),
        "non_json_in_socket_first": bad[:FIRST],
    }


def _store_non_finite(episodes: list[UUID]) -> None:
    """Put NaN and Infinity into the stored tasks and steps of these episodes, past the code that refuses them."""
    from django.db import connection

    from annotation_app.episodes.models import Episode, Step

    def corrupt(table: str, column: str, key: Any, change: Callable[[dict[str, Any]], None]) -> None:
        cursor.execute(f'SELECT {column} FROM "{table}" WHERE id = %s', [key])
        document = json.loads(cursor.fetchone()[0])
        change(document)
        cursor.execute(f'UPDATE "{table}" SET {column} = %s WHERE id = %s', [json.dumps(document), key])

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # steps are never changed otherwise
        for episode in Episode.objects.filter(pk__in=episodes).select_related("task"):
            corrupt(
                "tasks_task", "definition", episode.task_id, lambda task: task["parameters"].update(a=[float("nan")])
            )
        for step in Step.objects.filter(episode__in=episodes).values_list("pk", flat=True):
            corrupt(Step._meta.db_table, "document", step, lambda one: one.update(decide_ms=float("inf")))


async def _first_messages(episodes: list[UUID]) -> list[str]:
    """For each episode what is wrong with the first message of its socket; empty where nothing is."""
    from asgiref.sync import sync_to_async
    from django.conf import settings
    from django.test import Client

    from annotation_app.accounts.models import User
    from annotation_app.live.rooms import registry

    client = Client()
    await sync_to_async(client.force_login)(await User.objects.aget(username="researcher"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    try:
        return [await _first_message(episode, session) for episode in episodes]
    finally:
        await registry.close()


async def _first_message(episode: UUID, session: str) -> str:
    from channels.testing import WebsocketCommunicator

    from annotation_app.asgi import application

    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1"), (b"cookie", f"sessionid={session}".encode())]
    socket = WebsocketCommunicator(application, f"/ws/episodes/{episode}/", headers=headers)
    connected, code = await socket.connect(timeout=SOCKET_SECONDS)
    assert connected, code
    text: Any = await socket.receive_from(timeout=SOCKET_SECONDS)
    await socket.disconnect(timeout=SOCKET_SECONDS)
    try:
        message = json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        return f"{episode}: {error}"
    return "" if message["type"] == "snapshot" else f"{episode}: {text[:200]}"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


ROW_FILES = ("trajectories.jsonl", "atif.jsonl", "agentnet.jsonl")
WAYS: dict[str, Callable[..., dict[str, Any]]] = {
    "rows": import_corrupt_rows,
    "uploads": send_uploads,
    "sockets": open_sockets,
}


def main() -> None:
    django.setup()
    what, *words = sys.argv[1:]
    print(json.dumps(WAYS[what](*words)))


if __name__ == "__main__":
    main()
