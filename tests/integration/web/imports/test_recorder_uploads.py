"""The recorder's upload against a real server: what breaks off is resumed, a session comes in once, and what two
reviewers made of it is learned from."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from annotation_app.accounts.models import User
from annotation_app.accounts.services import token_make
from annotation_app.asgi import application
from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching, trajectories_of
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes.models import Episode, Step
from annotation_app.episodes.services import episode_next
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.services import export_write_to
from annotation_app.flywheel.models import Checkpoint, Sample, Turn, Use, Wheel
from annotation_app.flywheel.recipe import GateTrials, Recipe
from annotation_app.imports.models import Import
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.recorder.services import code_make
from annotation_app.reviews.models import Opinion
from annotation_app.settings.base import ROOT
from annotation_app.tasks.models import Pool, Task
from benchmarks.parts.safety.things import SFT
from protocol.trajectory.trajectories import Trajectory
from recorder.pilothouse_recorder import uploads
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.frames import encode_frame
from recorder.pilothouse_recorder.pairing import PairedServer, find_brief, load_pairing, pair, refresh_pools, unpair
from recorder.pilothouse_recorder.review import cut
from recorder.pilothouse_recorder.sessions import Session, SessionWriter, open_session
from recorder.pilothouse_recorder.uploads import Answer, Server, upload_session
from tests.integration.web.conftest import World, serving
from tests.integration.web.imports.import_helpers import write
from tests.integration.web.reviews.test_independent_reviews import reviewer
from tests.integration.web.reviews.test_reviews import Reviewer

ID = "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11"
PART = 1_000
SECOND = 1_000_000_000
SIZE = 64
TRAINER = """
import sys
from pathlib import Path
from benchmarks.parts.model_servers.checkpoint import write
from trainer.algorithms.ct import Config, run
folder, documents = map(Path, sys.argv[1:])
write(folder / "model", seed=0)
source = {"kind": "documents", "paths": [str(documents)], "share": 1}
told = {"checkpoint": folder / "model", "out": folder / "run", "sources": {"sessions": source}, "updates": 4}
told |= {"sequences": 1, "tokens": 512, "learning_rate": 3e-3, "warmup": 1, "keep_every": 4}
run(Config.model_validate(told))
"""


@pytest.fixture
async def address(committed: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Of a platform."""
    monkeypatch.setattr(uploads, "PART_BYTES", PART)
    monkeypatch.setattr(uploads, "RETRY_PAUSES_SECONDS", (0.0, 0.0))
    async with serving(lambda url: application) as url:
        yield url
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def server(address: str) -> Server:
    token = await sync_to_async(token_make)(
        username="ravi", name="tests", days=1, scopes=("imports:read", "imports:write")
    )
    return Server(address, token)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    manifest = {"id": ID, "annotator": "recorder-1", "instruction": "Fill in the form", "track": "expert"}
    clock = {"monotonic_ns": 0, "realtime_ns": 1_795_000_000 * SECOND}
    writer = SessionWriter(tmp_path / ID, {**manifest, "screen": [SIZE, SIZE], "clock": clock})
    for place in range(3):
        frame = encode_frame(bytes((0, 80 * place, 255, 0)) * SIZE * SIZE, SIZE, SIZE)
        data = {"sha256": frame.sha256, "width": SIZE, "height": SIZE, "damaged_ns": 0, "app": "form"}
        writer.append(Event("screen.frame", place * SECOND, "capture", 0, data), frame.jpeg)
        for kind, late in (("pointer.down", 0), ("pointer.up", SECOND // 20)):
            point = {"x": 9, "y": 9, "button": 1}
            writer.append(Event(kind, place * SECOND + SECOND // 2 + late, "x_server", 0, point))  # type: ignore[arg-type]
    writer.finish("success")
    words = [
        {"t_ns": (place + 1) * SECOND // 10, "end_ns": (place + 2) * SECOND // 10, "text": text}
        for place, text in enumerate(("I", "press", "it."))
    ]
    transcript = {"engine": "recorded", "language": "en", "words": words}
    (tmp_path / ID / "speech-00001.json").write_text(json.dumps(transcript))
    return open_session(tmp_path / ID)


class Line:
    """What happens to each part on its way, in order; nothing once the list is used up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *faults: str) -> None:
        self.faults, self.sent = list(faults), list[tuple[int, int]]()
        self._call = Server.call
        monkeypatch.setattr(Server, "call", lambda *words: self.call(*words))

    def call(
        self, server: Server, method: str, path: str, headers: Mapping[str, str] = {}, body: bytes | None = None
    ) -> Answer:
        if method != "PATCH":
            return self._call(server, method, path, headers, body)
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "lost":
            raise RecorderError("unreachable", "lost on the way")
        self.sent.append((int(headers["Upload-Offset"]), len(body or b"")))
        answer = self._call(server, method, path, headers, body)
        if fault == "unanswered":
            raise RecorderError("unreachable", "the answer was lost")
        return answer


def trajectory() -> Trajectory:
    (found,) = trajectories_of([UUID(ID)])
    return found


async def send(server: Server, session: Session) -> dict[str, Any]:
    return await asyncio.to_thread(upload_session, server, session, "Recorded")


async def test_a_session_comes_in_as_a_trajectory_once(
    server: Server, session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    line = Line(monkeypatch, "", "lost", "unanswered")
    job = await send(server, session)
    assert (job["imported"], job["steps"], job["refused"], job["format"]) == (1, 3, 0, "recording")
    ends = [offset + size for offset, size in line.sent]
    assert [offset for offset, _ in line.sent] == [0, *ends[:-1]], "no byte is sent twice"
    found = await sync_to_async(trajectory)()
    assert (found.origin, found.outcome, found.task.instruction) == ("recording", "success", "Fill in the form")
    assert [step.action.kind for step in found.steps] == ["click"] * 3
    assert [step.thought for step in found.steps] == ["I press it.", "", ""]
    recorded: Any = found.task.parameters["recording"]
    assert [word[2] for word in recorded["speech"]["words"]] == ["I", "press", "it."]
    assert found.steps[0].before.screenshot != found.steps[0].after.screenshot  # type: ignore[union-attr]

    line.sent.clear()
    assert await send(server, session) == job
    (session.folder / "uploaded.json").unlink()
    again = await send(server, session)
    assert (again["imported"], again["known"]) == (0, 1)

    exported = await sync_to_async(write)(tmp_path / "export")
    rows = [Trajectory.model_validate_json(row) for row in (exported / "trajectories.jsonl").read_text().splitlines()]
    assert [one.id for one in rows if one.origin == "recording"] == [ID]


async def test_an_upload_that_broke_off_is_resumed_by_another_process(
    server: Server, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        first = Line(patch, "", "lost", "lost", "lost", "lost")
        patch.setattr(uploads, "RETRY_PAUSES_SECONDS", ())
        with pytest.raises(RecorderError) as caught:
            await send(server, session)
    assert caught.value.code == "unreachable"
    line = Line(monkeypatch)
    assert (await send(server, session))["imported"] == 1
    assert line.sent[0][0] == sum(size for _, size in first.sent)


async def test_another_session_of_the_same_id_is_refused(server: Server, session: Session) -> None:
    await send(server, session)
    with pytest.raises(RecorderError) as caught:
        cut(session, 0, 1)
    assert caught.value.code == "already_uploaded"
    (session.folder / "uploaded.json").unlink()
    cut(session, 0, 1)
    with pytest.raises(RecorderError) as caught:
        await send(server, open_session(session.folder))
    assert caught.value.code == "import_failed"
    refusal = await sync_to_async(lambda: Import.objects.latest("created_at").refusals.get().code)()
    assert refusal == "id_taken"


async def test_a_wrong_token_is_told_by_the_servers_code(
    server: Server, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_authorization", {"Authorization": "Bearer wrong"})
    with pytest.raises(RecorderError) as caught:
        await send(server, session)
    assert caught.value.code == "not_signed_in"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


async def paired(url: str, world: World, home: Path) -> PairedServer:
    code, _ = await sync_to_async(code_make)(user=world.ada, name="Laptop")
    await asyncio.to_thread(pair, home, url, code)
    return PairedServer(load_pairing(home))


def recordings_of(world: World) -> Any:
    recordings = world.client(world.ada).get("/api/recorder").json()["recordings"]
    (one,) = (one for one in recordings if one["id"] == ID)
    return one


async def test_an_annotator_pairs_uploads_sees_and_withdraws(
    address: str, committed: World, session: Session, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = await paired(address, committed, home)
    assert (home / "pairing.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(RecorderError) as caught:
        await asyncio.to_thread(upload_session, own, session, "real")
    assert caught.value.code == "no_pool"
    await Pool.objects.filter(name="real").aupdate(takes_recordings=True)
    pools = await asyncio.to_thread(refresh_pools, home)
    assert [(one["name"], one["briefs"][0]) for one in pools] == [("real", {"key": "one", "instruction": "Type one"})]
    assert find_brief(home, "", "two").instruction == "Type two"
    session.manifest["brief"] = {"pool": pools[0]["id"], "task": "two"}
    line = Line(monkeypatch, "", "lost", "unanswered")
    job = await asyncio.to_thread(upload_session, own, session, str(pools[0]["id"]))
    assert (job["imported"], job["steps"], job["pool"]) == (1, 3, "real")
    ends = [offset + size for offset, size in line.sent]
    assert [offset for offset, _ in line.sent] == [0, *ends[:-1]], "no byte is sent twice"
    found = await sync_to_async(recordings_of)(committed)
    assert (found["state"], found["steps"], found["task_key"], found["computer"]) == ("waiting", 3, "two", "Laptop")
    assert await Episode.objects.aget(pk=ID, annotator=committed.ada, task__pool=committed.pool)
    assert await sync_to_async(recordings_path)(committed.ben, committed, "delete") == 404
    assert await sync_to_async(usable)() == (True, 1)
    assert await sync_to_async(recordings_path)(committed.ada, committed, "post", "/withdrawal") == 200
    assert (await sync_to_async(recordings_of)(committed))["state"] == "withdrawn"
    assert await sync_to_async(usable)() == (False, 0)
    await asyncio.to_thread(unpair, home)
    with pytest.raises(RecorderError) as caught:
        await asyncio.to_thread(own.pools)
    assert caught.value.code == "recorder_revoked"


def recordings_path(user: User, world: World, method: str, rest: str = "") -> int:
    status: int = getattr(world.client(user), method)(f"/api/recorder/recordings/{ID}{rest}").status_code
    return status


def usable() -> tuple[bool, int]:
    """Whether searches and trainings find the recording, and how many trajectories exports read of it."""
    entries_refresh()
    return entries_matching(Query()).filter(episode_id=UUID(ID)).exists(), len(list(trajectories_of([UUID(ID)])))


async def test_a_recording_is_deleted_until_somebody_reviews_or_learns_from_it(
    address: str,
    committed: World,
    admin: User,
    session: Session,
    home: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await Pool.objects.filter(name="real").aupdate(takes_recordings=True)
    own = await paired(address, committed, home)
    with monkeypatch.context() as patch:
        metadata = await asyncio.to_thread(own.upload_metadata, session, "", "real")
        announced = {**metadata, "session": str(uuid4())}
        patch.setattr(own, "upload_metadata", lambda *_: announced)
        with pytest.raises(RecorderError, match="was announced"):
            await asyncio.to_thread(upload_session, own, session, "real")
    await asyncio.to_thread(upload_session, own, session, "real")
    await sync_to_async(check_deletion)(committed, admin, data)


def check_deletion(world: World, admin: User, data: Path) -> None:
    client = world.client(world.ada)

    def delete() -> str:
        answer = client.delete(f"/api/recorder/recordings/{ID}").json()
        return str(answer.get("code") or answer["state"])

    recipe = Recipe(policy="toy", start="/start", sft=SFT, trials=GateTrials(world="toy"), server="http://127.0.0.1:9")
    wheel = Wheel.objects.create(name="main", pool=world.pool, recipe=recipe, owner=admin)
    turn = Turn.objects.create(wheel=wheel, number=1, recipe=recipe, requested_by=admin, state="cancelled")
    sample = Sample.objects.create(wheel=wheel, turn=turn, episode=UUID(ID))
    use = Use.objects.create(checkpoint=Checkpoint.objects.create(turn=turn, phase="ct"), sample=sample, source="fresh")
    assert delete() == "recording_used"
    (learned,) = recordings_of(world)["learned"]
    assert learned == {"flywheel": "main", "cycle": 1, "phase": "ct", "revision": ""}
    use.delete()
    opinion = Opinion.objects.create(episode_id=UUID(ID), reviewer=world.rosa, decision="accept")
    assert delete() == "recording_reviewed"
    opinion.delete()
    assert Step.objects.filter(episode=UUID(ID)).count() == 3, "a refused deletion changes nothing"
    other = episode_next(user=world.ben)
    assert other is not None
    task = Episode.objects.get(pk=UUID(ID)).task_id
    assert delete() == "deleted" == delete()
    assert not Episode.objects.filter(pk=UUID(ID)).exists()
    assert not Task.objects.filter(pk=task).exists()
    assert not [path for path in (data / "blobs").rglob("*") if path.is_file()]
    assert Episode.objects.get() == other


@pytest.mark.timeout(900)  # the first one makes the trainer's environment
async def test_a_session_that_two_reviewers_accepted_is_learned_from(
    committed: World, server: Server, session: Session, tmp_path: Path
) -> None:
    assert (await send(server, session))["imported"] == 1
    documents = await sync_to_async(_review_and_export)(committed, tmp_path / "documents")
    text = (documents / "document.md").read_text()
    assert (
        text
        == "# Fill in the form\n\n"
        + "\n\n".join(
            f"![](step-{number}.jpg)\n\n{thought}Click at (9, 9)"
            for number, thought in ((1, "I press the FIRST button\n\n"), (2, ""), (3, ""))
        )
        + "\n"
    )
    python = await asyncio.to_thread(ensure_trainer, Console())
    words = [str(python), "-c", TRAINER, str(tmp_path), str(documents.parent)]
    await asyncio.to_thread(subprocess.run, words, check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    losses = [json.loads(line)["loss"] for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert len(losses) == 4
    assert losses[-1] < losses[0]


def _review_and_export(world: World, target: Path) -> Path:
    """Both reviewers correct the thought alike, unseen by the other, and accept. Returns the document's folder."""
    episode = Episode.objects.select_related("task").get(pk=ID)
    Pool.objects.filter(pk=episode.task.pool_id).update(reviewers=2)
    for name, text in (("Rosa", "I press the first button."), ("Rita", "I press the FIRST button")):
        one = Reviewer(world, reviewer(name))
        seen = one.get(f"/episodes/{ID}/speech")
        assert [thought["text"] for thought in seen["thoughts"]] == ["I press it."]
        one.post(f"/episodes/{ID}/review/thoughts", do="write", base=0, thought=0, text=text)
        decided = one.decides(episode, "accept")
    assert decided["review"] == "accepted"
    agreement = one.get("/reviews/agreement")["decisions"]
    assert (agreement["episodes"], agreement["share"], agreement["words"]) == (1, 1.0, 3)
    plan = ExportPlan.model_validate({"format": "ct_documents"})
    export_write_to(target=target, pool_name="Recorded", filters=ExportFilters(review="accepted"), plan=plan)
    return target / "train" / ID
