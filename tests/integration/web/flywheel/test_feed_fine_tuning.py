"""A fine-tuning run follows what people finish: the feed's command fills its inbox, and what comes joins the run."""

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from PIL import Image

from annotation_app.accounts.models import User
from annotation_app.accounts.services import token_make
from annotation_app.asgi import application
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes import services
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.settings.base import ROOT
from annotation_app.tasks.services import tasks_add
from benchmarks.parts.model_servers.launcher import write_checkpoint
from protocol.blobs import BlobRef
from tests.contract.test_store import look, step
from tests.integration.web.conftest import World, serving, task_named
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.xdist_group("servers")]

BOUND = 1500.0
"""How long one thing may take on a machine with much else to do (seconds)."""


@pytest.fixture
async def url(committed: World) -> AsyncIterator[str]:
    """The web app as a server."""
    async with serving(lambda url: application) as url:
        yield url
    await sync_to_async(connections.close_all)()


def finished(world: World, user: User, shade: int) -> str:
    """The id of an accepted episode of one step, whose picture is one."""
    data = io.BytesIO()
    Image.new("RGB", (112, 84), (shade, 0, 90)).save(data, "PNG")
    ref = BlobRef.of(data.getvalue(), "image/png")
    seen = look().model_copy(update={"screenshot": ref, "width": 112, "height": 84})
    episode = services.episode_next(user=user)
    assert episode is not None
    taken = services.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60)
    services.blob_add(episode_id=episode.id, token=taken, ref=ref, data=data.getvalue())
    done = step(command_id=f"command-{episode.id}", before=seen, after=seen)
    services.step_append(episode_id=episode.id, token=taken, step=done)
    ended = {"status": "finished", "outcome": "success"}
    services.episode_change(episode_id=episode.id, token=taken, fields=ended)
    services.episode_review(reviewer=world.rosa, episode_id=episode.id, decision="accept")
    entries_refresh()
    return str(episode.id)


async def started(log: Path, *command: str | Path, **environment: str) -> asyncio.subprocess.Process:
    with log.open("ab") as told:
        return await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env={**os.environ, **environment}, stdout=told, stderr=asyncio.subprocess.STDOUT
        )


async def test_what_people_finish_joins_a_run_that_was_killed_and_ends_when_it_is_told(
    url: str, committed: World, tmp_path: Path
) -> None:
    python = await asyncio.to_thread(ensure_trainer, Console())
    tiny = await asyncio.to_thread(write_checkpoint, python, tmp_path / "tiny")
    token = await sync_to_async(token_make)(username="ravi", name="tests", days=1)
    await sync_to_async(tasks_add)(pool=committed.pool, definitions=[task_named("four"), task_named("five")])
    first = [await sync_to_async(finished)(committed, committed.ada, shade) for shade in (10, 200)]
    inbox, run, log = tmp_path / "inbox", tmp_path / "run", tmp_path / "sft.log"
    inbox.mkdir()
    told = {"checkpoint": tiny, "folders": json.dumps([str(inbox)]), "out": run, "follow": "true", "patience": BOUND}
    told |= {"sequences": 1, "tokens": 1024, "updates": 100, "keep_every": 1, "learning_rate": 0.001}
    words = [word for name, value in told.items() for word in ("--set", f"{name}={value}")]
    sft: list[str | Path] = [python, "-m", "trainer", "sft", *words]

    def came() -> set[str]:
        return {one.name[-36:] for one in inbox.iterdir() if one.is_dir() and not one.name.startswith(".")}

    def joined() -> list[list[str]]:
        ledger = run / "joined.json"
        passes = json.loads(ledger.read_text()) if ledger.exists() else []
        return [[Path(one["path"]).name[-36:] for one in each] for each in passes]

    follow = (".venv/bin/python", "-m", "annotation_app.client", "stream", inbox, "--every", "0.2")
    stream = await started(tmp_path / "stream.log", *follow, PILOTHOUSE_URL=url, PILOTHOUSE_TOKEN=token)
    programs = [stream]
    try:
        await eventually(lambda: came() == set(first), BOUND)
        trainer = await started(log, *sft, OMP_NUM_THREADS="1")
        programs.append(trainer)
        await eventually(lambda: (run / "update-000001").exists() or trainer.returncode is not None, BOUND)
        assert trainer.returncode is None, log.read_text()[-4000:]
        trainer.kill()
        await trainer.wait()
        later = await sync_to_async(finished)(committed, committed.ben, 90)
        await eventually(lambda: later in came(), BOUND)
        again = await started(log, *sft, OMP_NUM_THREADS="1")
        programs.append(again)
        await eventually(lambda: [later] in joined() or again.returncode is not None, BOUND)
        (inbox / ".ended").touch()
        async with asyncio.timeout(BOUND):
            assert await again.wait() == 0, log.read_text()[-4000:]
        stream.terminate()
        assert await stream.wait() == 0
    finally:
        for program in programs:
            if program.returncode is None:
                program.kill()
                await program.wait()
    assert joined() == [first, [later]], "in the order they came, each once"
    figures = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [one["update"] for one in figures] == [1, 2, 3, 4, 5], "two samples, then three, one an update"
    assert log.read_text().endswith(f"{run / 'update-000005'}\n")
