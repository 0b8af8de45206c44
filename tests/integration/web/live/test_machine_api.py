"""What the desk's panels ask of a machine: over the real path, with a painted machine at its end."""

import hashlib
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode
from annotation_app.live.store import run_in_db_thread
from annotation_app.pools.services import credential_remove
from annotation_app.tasks.models import Credential
from protocol.blobs import BlobRef
from tests.integration.web.conftest import PASSWORD, EpisodeSocket, Stack, World

BYTES = bytes(range(256)) * 3


def browser_request(world: World, user: User, method: str, path: str, **body: Any) -> Any:
    """Somebody's browser asks; the answer's status and body."""
    client: Client = world.client(user)
    response = getattr(client, method)(f"/api/episodes/{path}", **body)
    return response


def add_credential(episode_id: str) -> None:
    pool = Episode.objects.get(pk=episode_id).task.pool
    Credential.objects.create(pool=pool, name="PASSWORD", sealed="sealed")


def remove_credential(episode_id: str) -> None:
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    credential_remove(user=admin, pool_id=Episode.objects.get(pk=episode_id).task.pool_id, name="PASSWORD")


async def ask(stack: Stack, desk: EpisodeSocket, method: str, path: str, user: User | None = None, **body: Any) -> Any:
    world = stack.world
    return await run_in_db_thread(
        browser_request, world=world, user=user or world.ada, method=method, path=f"{desk.episode_id}/{path}", **body
    )


async def perform_step(desk: EpisodeSocket, **action: Any) -> dict[str, Any]:
    """The step an act of this person's own becomes."""
    await desk.send(type="act", command_id=uuid4().hex, thought="It is needed.", action=action)
    event = await desk.until(type="step.added")
    step: dict[str, Any] = event["step"]
    return step


async def test_a_file_goes_in_and_comes_out_again(stack: Stack) -> None:
    desk = await stack.deciding()
    sent = SimpleUploadedFile("notes.html", BYTES, content_type="text/html")
    answer = await ask(stack, desk, "post", "uploads", data={"file": sent})
    ref = BlobRef.model_validate_json(answer.content)
    assert (ref.sha256, ref.size) == (hashlib.sha256(BYTES).hexdigest(), len(BYTES))

    step = await perform_step(desk, kind="upload_file", path="notes.html", blob=ref.model_dump())
    assert step["error"] is None
    listed = (await ask(stack, desk, "get", "files")).json()
    assert [(entry["name"], entry["size"]) for entry in listed["entries"]] == [("notes.html", len(BYTES))]

    asked: dict[str, Any] = {"data": {"line": "cat no", "session": "main"}, "content_type": "application/json"}
    offered = await ask(stack, desk, "post", "completions", **asked)
    assert offered.json() == {"offered": True, "start": 4, "options": ["notes.html"], "more": False}
    texts = (await ask(stack, desk, "get", "texts")).json()
    assert texts == {"titles": ["Painted desktop"], "words": ["Painted", "buttons"]}
    for change_secrets in (add_credential, remove_credential):  # the machine may still show one that was removed
        await run_in_db_thread(change_secrets, episode_id=desk.episode_id)
        assert (await ask(stack, desk, "post", "completions", **asked)).json()["offered"] is False
        assert (await ask(stack, desk, "get", "texts")).json() == {"titles": [], "words": []}

    brought = (await perform_step(desk, kind="download_file", path="notes.html"))["after"]["attachment"]
    blob = await ask(stack, desk, "get", f"blobs/{brought['sha256']}")
    assert blob.content == BYTES
    assert blob.headers["Content-Type"] == "application/octet-stream", "nothing that a browser would run"


async def test_what_cannot_be_read_is_refused(stack: Stack) -> None:
    desk = await stack.deciding()
    assert (await ask(stack, desk, "get", "files?path=" + "a" * 5_000)).status_code == 422
    assert (await ask(stack, desk, "post", "uploads", data={})).status_code == 422


async def test_files_too_large_are_refused(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation_app.live.machine_api.MAX_FILE", 10)
    desk = await stack.deciding()
    answer = await ask(stack, desk, "post", "uploads", data={"file": SimpleUploadedFile("a", b"x" * 11)})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_others_do_not_look_and_reviewers_do_not_touch(stack: Stack) -> None:
    desk = await stack.deciding()
    world = stack.world
    for path in ("files", "services"):
        assert (await ask(stack, desk, "get", path, world.ben)).status_code == 404
        assert (await ask(stack, desk, "get", path, world.rosa)).status_code == 200
    for user, refused in ((world.ben, 404), (world.rosa, 403)):
        sent = {"file": SimpleUploadedFile("a", b"a")}
        assert (await ask(stack, desk, "post", "uploads", user, data=sent)).status_code == refused
        line: dict[str, Any] = {"data": {"line": "cat "}, "content_type": "application/json"}
        assert (await ask(stack, desk, "post", "completions", user, **line)).status_code == refused
        assert (await ask(stack, desk, "get", "texts", user)).status_code == refused


async def test_an_episode_without_a_machine_has_no_inside(stack: Stack) -> None:
    episode = await stack.episode()
    path = f"{episode.id}/files"
    answer = await run_in_db_thread(browser_request, world=stack.world, user=stack.world.ada, method="get", path=path)
    assert (answer.status_code, answer.json()["code"]) == (409, "machine_gone")


async def test_terminals_are_watched_with_a_ticket(stack: Stack) -> None:
    desk = await stack.deciding()
    wanted = {"kind": "terminal"}
    answer = await ask(stack, desk, "post", "tickets", data=wanted, content_type="application/json")
    assert answer.status_code == 200
    assert answer.json()["url"].endswith("/streams/terminal")
