"""The client against a real server: found, exported, downloaded in two goes, followed into an inbox, registered."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils import timezone

from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.asgi import application
from annotation_app.catalogue.schemas import Query as KeptQuery
from annotation_app.catalogue.services import entries_refresh, query_save
from annotation_app.client import Pilothouse, Query, errors, follow_query
from annotation_app.client.__main__ import main
from annotation_app.client.inbox_follower import POSITION_NAME
from annotation_app.episodes.models import Episode
from annotation_app.feed.selectors import SETTLE_TIME
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.settings.base import ROOT
from annotation_app.tasks.services import tasks_add
from tests.contract.test_store import PICTURE, REF
from tests.integration.web.conftest import PASSWORD, World, serving, task_named
from tests.integration.web.exports.test_exports import finished
from trainer.data.trajectories import open_folder

IN_THE_TRAINER = """
import json, sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace as Attempt
from trainer.data.inbox import Inbox
from trainer.data.trajectories import open_folder

def read(path):
    found = list(open_folder(path).trajectories())
    made = [Attempt(id=one.id, task=one.task.id, judged=False, has_human_steps=False) for one in found]
    return made, Counter()

inbox = Inbox(Path(sys.argv[1]), patience=0)
taken = inbox.take(int(sys.argv[2]), read, lambda attempt: None)
inbox.mark_processed(taken.folders)
print(json.dumps([attempt.id for attempt in taken.attempts]))
"""


@pytest.fixture
async def url(committed: World) -> AsyncIterator[str]:
    """The web app as a server."""
    async with serving(lambda url: application) as url:
        yield url
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def token(committed: World) -> str:
    """A token of Ravi's, who is a researcher."""
    return await sync_to_async(token_make)(username="ravi", name="tests", days=1)


@pytest.fixture
async def episodes(committed: World) -> list[Episode]:
    """Two accepted episodes and one that waits for review."""
    return await sync_to_async(_episodes)(committed)


def _episodes(world: World) -> list[Episode]:
    tasks_add(pool=world.pool, definitions=[task_named("four")])
    made = [finished(world, world.ada), finished(world, world.ada), finished(world, world.ada, accept=False)]
    entries_refresh()
    return made


def settle(episodes: list[Episode]) -> None:
    """Let it be long ago that these became ready."""
    before = timezone.now() - 2 * SETTLE_TIME
    for place, episode in enumerate(episodes):
        moment = before + timedelta(seconds=place)
        Episode.objects.filter(pk=episode.pk).update(finished_at=moment, reviewed_at=moment)


def names(inbox: Path) -> list[str]:
    return sorted(one.name[-36:] for one in inbox.iterdir() if one.is_dir() and not one.name.startswith("."))


async def test_what_was_asked_for_is_found(url: str, token: str, episodes: list[Episode], committed: World) -> None:
    await sync_to_async(query_save)(user=committed.ravi, name="good", query=KeptQuery(review="accepted"))

    def ask() -> None:
        with Pilothouse(url, token) as client:
            assert [one.id for one in client.trajectories()] == [one.id for one in reversed(episodes)]
            good = client.query("good")
            assert good == Query(review="accepted")
            assert {one.id for one in client.trajectories(good)} == {one.id for one in episodes[:2]}
            assert list(client.trajectories(Query(text="nobody said this"))) == []
            whole = client.trajectory(episodes[0].id)
            assert (whole.id, len(whole.steps), whole.annotator) == (str(episodes[0].id), 1, whole.annotator)
            with pytest.raises(errors.NotFound):
                client.query("bad")
            with pytest.raises(errors.NotFound):
                client.trajectory(uuid4())

    await asyncio.to_thread(ask)


async def test_refusals_are_typed_and_have_the_servers_code(url: str, token: str, episodes: list[Episode]) -> None:
    narrow = await sync_to_async(token_make)(username="ravi", name="narrow", days=1, scopes=("queries:read",))
    ada = await sync_to_async(token_make)(username="ada", name="annotator", days=1)

    def ask() -> None:
        with Pilothouse(url, "no token") as client, pytest.raises(errors.NotSignedIn):
            client.queries()
        with Pilothouse(url, narrow) as client:
            assert client.queries() == ()
            with pytest.raises(errors.Forbidden) as refusal:
                client.exports()
            assert (refusal.value.code, refusal.value.extra) == ("scope_missing", {"scope": "exports:read"})
        with Pilothouse(url, ada) as client, pytest.raises(errors.Forbidden):
            client.feed(Query(), ready_since=None)
        with Pilothouse(url, token) as client, pytest.raises(errors.Invalid):
            client.export_start({}, {"format": "none"})
        with Pilothouse("http://127.0.0.1:9", token) as client, pytest.raises(errors.Unreachable):
            client.queries()

    await asyncio.to_thread(ask)


async def test_an_export_comes_whole_and_a_broken_download_goes_on(
    url: str, token: str, episodes: list[Episode], tmp_path: Path
) -> None:
    def ask() -> None:
        with Pilothouse(url, token) as client:
            export = client.export_start()
            assert client.export_wait(export.id).trajectories == 2
            address = f"{url}/api/exports/{export.id}/download"
            headers = {"Authorization": f"Bearer {token}"}
            whole = httpx.get(address, headers=headers)
            assert int(whole.headers["Content-Length"]) == len(whole.content)
            half = len(whole.content) // 2
            rest = httpx.get(address, headers={**headers, "Range": f"bytes={half}-"})
            assert (rest.status_code, rest.content) == (206, whole.content[half:])
            other = httpx.get(address, headers={**headers, "Range": f"bytes={half}-", "If-Range": '"other"'})
            assert (other.status_code, other.content) == (200, whole.content)
            end = httpx.get(address, headers={**headers, "Range": f"bytes={len(whole.content)}-"})
            assert end.status_code == 416

            target = tmp_path / "out"
            begun = tmp_path / f"out.{export.id}.zip"
            begun.with_name(begun.name + ".part").write_bytes(whole.content[:half])
            begun.with_name(begun.name + ".etag").write_text(whole.headers["ETag"])
            manifest = client.export_download(export.id, target)
            assert manifest.counts.trajectories == 2
            assert len(list(open_folder(target).trajectories())) == 2
            assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == ["out"]

    await asyncio.to_thread(ask)


async def test_a_download_that_was_altered_leaves_no_folder(
    url: str, token: str, episodes: list[Episode], tmp_path: Path
) -> None:
    def ask() -> None:
        with Pilothouse(url, token) as client:
            export = client.export_wait(client.export_start().id)
            whole = httpx.get(f"{url}/api/exports/{export.id}/download", headers={"Authorization": f"Bearer {token}"})
            altered = whole.content.replace(PICTURE, PICTURE[::-1], 1)
            assert altered != whole.content
            begun = tmp_path / f"out.{export.id}.zip.part"
            begun.write_bytes(altered[:-1])
            begun.with_name(f"out.{export.id}.zip.etag").write_text(whole.headers["ETag"])
            with pytest.raises(errors.DownloadDamaged):
                client.export_download(export.id, tmp_path / "out")
            assert not (tmp_path / "out").exists()
            client.export_download(export.id, tmp_path / "out")

    await asyncio.to_thread(ask)


async def test_an_inbox_gets_each_trajectory_once(
    url: str, token: str, episodes: list[Episode], committed: World, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    accepted = Query(review="accepted")

    def round_of() -> list[tuple[UUID, str]]:
        with Pilothouse(url, token) as client, follow_query(client, inbox, accepted) as follower:
            return [(item.id, became) for item, became in follower.fetch_new()]

    assert await asyncio.to_thread(round_of) == [(one.id, "new") for one in episodes[:2]]
    assert names(inbox) == sorted(str(one.id) for one in episodes[:2])
    assert await asyncio.to_thread(round_of) == [], "told again, and not written again"

    await sync_to_async(settle)(episodes[:2])
    assert await asyncio.to_thread(round_of) == []
    taken = inbox / ".taken"
    taken.mkdir()
    for folder in [one for one in inbox.iterdir() if not one.name.startswith(".")]:
        folder.rename(taken / folder.name)
    (inbox / POSITION_NAME).unlink()
    assert await asyncio.to_thread(round_of) == [], "killed between the folder and the position"

    late = await sync_to_async(finished)(committed, committed.ben)
    await sync_to_async(entries_refresh)()
    assert await asyncio.to_thread(round_of) == [(late.id, "new")]
    with pytest.raises(errors.InboxInUse), Pilothouse(url, token) as client, follow_query(client, inbox, Query()):
        pass


async def test_what_is_not_in_the_catalogue_yet_is_not_passed_over(
    url: str, token: str, episodes: list[Episode], committed: World, tmp_path: Path
) -> None:
    """It became ready before the last one that was told, and is entered after it."""
    early = await sync_to_async(finished)(committed, committed.ben)
    await sync_to_async(settle)([early, *episodes])

    def round_of() -> set[UUID]:
        with Pilothouse(url, token) as client, follow_query(client, tmp_path / "in", Query()) as follower:
            return {item.id for item, _ in follower.fetch_new()}

    assert await asyncio.to_thread(round_of) == {one.id for one in episodes}
    await sync_to_async(entries_refresh)()
    assert await asyncio.to_thread(round_of) == {early.id}


async def test_a_lost_picture_is_told_and_the_others_come(
    url: str, token: str, episodes: list[Episode], data: Path, tmp_path: Path
) -> None:
    for blob in (data / "blobs").rglob(REF.sha256):
        blob.unlink()

    def round_of() -> list[str]:
        with (
            Pilothouse(url, token) as client,
            follow_query(client, tmp_path / "in", Query(review="accepted")) as follower,
        ):
            return [became for _, became in follower.fetch_new()]

    assert await asyncio.to_thread(round_of) == ["pictures_missing", "pictures_missing"]
    assert names(tmp_path / "in") == []


async def test_one_process_fills_an_inbox(url: str, token: str, tmp_path: Path) -> None:
    with Pilothouse(url, token) as client, follow_query(client, tmp_path / "in", Query()):
        second = follow_query(client, tmp_path / "in", Query())
        with pytest.raises(errors.InboxInUse):
            second.__enter__()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_trainer_takes_what_the_command_streamed(
    url: str, token: str, episodes: list[Episode], tmp_path: Path
) -> None:
    environment = {**os.environ, "PILOTHOUSE_URL": url, "PILOTHOUSE_TOKEN": token}
    inbox = tmp_path / "inbox"
    command = [".venv/bin/python", "-m", "annotation_app.client", "stream", str(inbox), "--once"]
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in told] == [str(one.id) for one in episodes[:2]]
    python = await asyncio.to_thread(ensure_trainer, Console())
    reading = [str(python), "-c", IN_THE_TRAINER, str(inbox), "2"]
    read = await asyncio.to_thread(
        subprocess.run, reading, cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    assert json.loads(read.stdout) == [one["id"] for one in told]
    assert names(inbox) == []


async def test_commands(
    url: str, token: str, episodes: list[Episode], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILOTHOUSE_URL", url)
    monkeypatch.setenv("PILOTHOUSE_TOKEN", token)

    async def run(*words: str) -> tuple[int, list[Any], str]:
        status = await asyncio.to_thread(main, list(words))
        out, err = capsys.readouterr()
        return status, [json.loads(line) for line in out.splitlines()], err

    status, rows, _ = await run("query", "--review", "accepted", "--most", "1")
    assert (status, [row["id"] for row in rows]) == (0, [str(episodes[1].id)])
    status, rows, _ = await run("show", str(episodes[0].id))
    assert (status, rows[0]["id"]) == (0, str(episodes[0].id))
    status, rows, err = await run("export", str(tmp_path / "out"), "--format", "canonical")
    assert (status, rows[0]["trajectories"]) == (0, 2)
    assert "done 100%" in err
    assert len(list(open_folder(tmp_path / "out").trajectories())) == 2
    shutil.rmtree(tmp_path / "out")
    status, _, _ = await run("export", str(tmp_path / "out"), "--id", rows[0]["id"])
    assert (status, (tmp_path / "out" / "manifest.json").is_file()) == (0, True)
    status, told, _ = await run("import", str(tmp_path / "out"), "--pool", "again")
    assert (status, told[0]["known"], told[0]["imported"], told[0]["refused"]) == (0, 2, 0, 0)
    (tmp_path / "bad.jsonl").write_text("no row\n")
    status, told, err = await run("import", str(tmp_path / "bad.jsonl"))
    assert (status, told, err.partition(":")[0]) == (1, [], "no_rows"), "nothing was sent"
    (tmp_path / "bad.jsonl").write_text('{"no": "row"}\n')
    status, told, err = await run("import", str(tmp_path / "bad.jsonl"))
    assert (status, told) == (1, [])
    assert "rows.jsonl:1: unknown_format: " in err
    assert "\nall_refused: " in err
    lines = (tmp_path / "out" / "trajectories.jsonl").read_text()
    (tmp_path / "out" / "trajectories.jsonl").write_text(lines + '{"no": "row"}\n')
    status, told, err = await run("import", str(tmp_path / "out"), "--pool", "again")
    assert (status, told[0]["known"], told[0]["refused"]) == (0, 2, 1)
    assert "trajectories.jsonl:3: unknown_format: " in err
    await _nothing_is_sent(run, tmp_path)
    status, rows, err = await run("list", "exports")
    assert (status, len(rows)) == (0, 1)
    status, rows, err = await run("query", "--reward-min", "much")
    assert (status, rows, err.partition(":")[0]) == (1, [], "invalid")
    status, rows, err = await run("list", "policies")
    assert (status, err) == (0, ""), "researchers read them"
    monkeypatch.setenv("PILOTHOUSE_TOKEN", f"{token}x")
    status, rows, err = await run("list", "policies")
    assert (status, rows, err.partition(":")[0]) == (1, [], "not_signed_in")


async def _nothing_is_sent(run: Callable[..., Awaitable[tuple[int, list[Any], str]]], tmp_path: Path) -> None:
    """What is wrong here is told before the server works."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme.txt").write_text("nothing")
    (tmp_path / "nothing.jsonl").write_text("\n")
    for words, code in (
        (("import", "gone.zip"), "FileNotFoundError"),
        (("import", "empty"), "no_rows"),
        (("import", "nothing.jsonl"), "no_rows"),
        (("export", "out"), "damaged"),
    ):
        status, told, err = await run(words[0], str(tmp_path / words[1]))
        assert (status, told, err.partition(":")[0]) == (1, [], code), words
        assert "import " not in err, "no job was begun"
    for plan in ("{", "[1]", '{"shares": NaN}'):
        with pytest.raises(SystemExit, match="2"):
            await run("export", str(tmp_path / "new"), "--plan", plan)
    status, _, err = await run("export", str(tmp_path / "new"), "--plan", '{"colour": 1}')
    assert (status, "plan.colour: " in err) == (1, True), "the field is named"


async def test_a_revision_is_registered_once(url: str, committed: World) -> None:
    await sync_to_async(user_ensure)(username="alma", password=PASSWORD, name="Alma", roles=["admin"])
    token = await sync_to_async(token_make)(username="alma", name="tests", days=1, scopes=("policies:write",))
    revision = {"name": "tars", "revision": "7", "dialect": "ui_tars_1_5", "base_url": "http://127.0.0.1:9/v1"}

    def ask() -> None:
        with Pilothouse(url, token) as client:
            first = client.policy_register(**revision, model="m")
            again = client.policy_register(**revision, model="m")
            assert (first.new, again.new, again.id) == (True, False, first.id)
            with pytest.raises(errors.Conflict):
                client.policy_register(**revision, model="another")
            assert client.call("PATCH", f"/policies/{first.id}", {"model": "other"}) is None
            assert client.call("POST", "/policies", {**revision, "model": "other"}) == {"id": first.id, "new": False}
            with pytest.raises(errors.Forbidden):
                client.call("GET", "/evaluations")

    await asyncio.to_thread(ask)
