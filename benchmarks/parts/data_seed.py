"""A database of so many steps, copied in: `python -m benchmarks.parts.data_seed STEPS`.

Every episode has 20 steps, every step two proposals at one step of five; pictures are 256 files that steps share.
"""

import random
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import django

EPISODE = 20
TASKS = 1_000
PICTURES = 256
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "open",
    "close",
    "save",
    "rename",
    "copy",
    "paste",
    "report",
    "budget",
    "invoice",
    "folder",
    "window",
    "button",
    "menu",
    "search",
    "mail",
    "calendar",
    "meeting",
    "spreadsheet",
    "column",
    "row",
    "total",
    "chart",
    "browser",
    "address",
    "page",
    "link",
    "form",
    "field",
    "password",
    "settings",
    "network",
    "printer",
    "image",
    "photo",
    "rotate",
    "crop",
    "brightness",
    "archive",
    "download",
    "upload",
    "terminal",
    "command",
    "script",
)


def main() -> None:
    django.setup()
    steps = int(sys.argv[1])
    _people_and_tasks()
    _episodes(steps // EPISODE)


def _sentence(draw: random.Random, length: int) -> str:
    return " ".join(draw.choices(WORDS, k=length))


def _people_and_tasks() -> None:
    import simplejpeg
    from numpy import full, uint8

    from annotation_app.accounts.services import user_ensure
    from annotation_app.blobs.services import blob_record, blob_write
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from vocabulary.blobs import BlobRef
    from vocabulary.tasks import Task

    for number in range(20):
        user_ensure(username=f"annotator{number}", password="", name="", roles=["annotator"])
    user_ensure(username="researcher", password="", name="", roles=["researcher"])
    pools = [pool_ensure(name=f"pool {number}", members=[]) for number in range(5)]
    draw = random.Random(1)
    for place, pool in enumerate(pools):
        count = TASKS // len(pools)
        tasks_add(
            pool=pool,
            definitions=[
                Task(
                    id=f"task-{place}-{number}",
                    instruction=_sentence(draw, 12),
                    parameters={"application": draw.choice(WORDS)},
                )
                for number in range(count)
            ],
        )
    for number in range(PICTURES):
        data = bytes(simplejpeg.encode_jpeg(full((90, 160, 3), number, dtype=uint8), quality=90))
        ref = BlobRef.of(data, "image/jpeg")
        blob_write(ref=ref, data=data)
        blob_record(ref=ref)


def _pictures() -> list[Any]:
    from annotation_app.blobs.models import Blob
    from vocabulary.blobs import BlobRef

    rows = Blob.objects.order_by("sha256")
    return [BlobRef(sha256=row.sha256, media_type=row.media_type, size=row.size) for row in rows]


def _copy(model: Any, rows: Iterable[tuple[Any, ...]], columns: list[str]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        names = ", ".join(f'"{column}"' for column in columns)
        with cursor.copy(f'COPY "{model._meta.db_table}" ({names}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(row)


def _row(instance: Any) -> dict[str, Any]:
    """An instance's columns as they are stored."""
    from django.db import connection

    fields = instance._meta.concrete_fields
    return {
        field.column: field.get_db_prep_save(field.pre_save(instance, add=True), connection)
        for field in fields
        if not (field.primary_key and field.get_internal_type() == "BigAutoField")
    }


def _episodes(count: int) -> None:
    from django.db import connection

    from annotation_app.accounts.models import User
    from annotation_app.episodes.models import Desk, Episode, Proposal, Step
    from annotation_app.tasks.models import Assignment, Task
    from vocabulary.observations import Verdict

    people = list(User.objects.filter(username__startswith="annotator").values_list("pk", flat=True))
    tasks = list(Task.objects.values_list("pk", flat=True))
    draw = random.Random(2)
    ids = [UUID(int=draw.getrandbits(128), version=4) for _ in range(count)]

    sample = _row(Assignment(task_id=tasks[0], annotator_id=people[0], state="done", expires_at=START))
    head = Assignment.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    columns = ["id", *sample]
    _copy(
        Assignment,
        (
            (
                head + 1 + n,
                *({**sample, "task_id": tasks[n % len(tasks)], "annotator_id": people[n % len(people)]}).values(),
            )
            for n in range(count)
        ),
        columns,
    )
    made = Episode(
        task_id=tasks[0],
        annotator_id=people[0],
        assignment_id=1,
        status="finished",
        outcome="success",
        review="accepted",
        version=EPISODE * 3,
        desk=Desk(capabilities=("click", "type_text"), verdict=Verdict(success=True, score=1)),
        finished_at=START,
    )
    sample = _row(made)

    def episodes() -> Iterator[tuple[Any, ...]]:
        for n, key in enumerate(ids):
            moment = START + timedelta(seconds=30 * n)
            changed = {
                "id": key,
                "task_id": tasks[n % len(tasks)],
                "annotator_id": people[n % len(people)],
                "assignment_id": head + 1 + n,
                "created_at": moment,
                "finished_at": moment,
                "outcome": draw.choice(("success", "success", "failure")),
                "review": draw.choice(("accepted", "accepted", "pending")),
            }
            yield tuple({**sample, **changed}.values())

    _copy(Episode, episodes(), list(sample))
    _steps(ids, Step, Proposal)
    with connection.cursor() as cursor:
        for model in (Assignment, Step, Proposal):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM \"{table}\"")
        cursor.execute("ANALYZE")


def _steps(ids: list[UUID], step_model: Any, proposal_model: Any) -> None:
    from tests.contract.test_store import POLICY, look, proposal, step
    from vocabulary.actions import Click

    pictures, draw = _pictures(), random.Random(3)
    first = pictures[0].sha256
    before = look().model_copy(update={"screenshot": pictures[0], "width": 160, "height": 90})
    made = step(0, "COMMAND", thought="THOUGHT", action=Click(x=20, y=30), before=before, after=before, policy=POLICY)
    row = step_model(
        episode_id=ids[0], index=0, command_id="", actor="human", decision="accept", policy=POLICY.label, document=made
    )
    sample = _row(row)
    document = str(sample["document"])

    def steps() -> Iterator[tuple[Any, ...]]:
        for key in ids:
            for index in range(EPISODE):
                command = f"{key.hex}-{index}"
                decision = draw.choice(("accept", "accept", "override", "edit"))
                told = (
                    document.replace('"index":0', f'"index":{index}', 1)
                    .replace("COMMAND", command, 1)
                    .replace("THOUGHT", _sentence(draw, 12), 1)
                    .replace('"decision":"override"', f'"decision":"{decision}"', 1)
                    .replace(first, pictures[(key.int + index) % PICTURES].sha256)
                )
                changed = {
                    "episode_id": key,
                    "index": index,
                    "command_id": command,
                    "decision": decision,
                    "document": told,
                }
                yield tuple({**sample, **changed}.values())

    _copy(step_model, steps(), list(sample))
    offers = [
        (number, proposal(number, id=f"PROPOSAL{number}", action=Click(x=10 * number, y=10))) for number in (1, 2)
    ]
    samples = [
        (
            number,
            _row(proposal_model(episode_id=ids[0], key="", index=0, policy=POLICY.label, open=False, document=one)),
        )
        for number, one in offers
    ]

    def proposals() -> Iterator[tuple[Any, ...]]:
        for key in ids:
            for index in range(0, EPISODE, 5):
                for number, sample in samples:
                    name = f"{key.hex[:20]}-{index}-{number}"
                    told = str(sample["document"]).replace(f"PROPOSAL{number}", name, 1)
                    yield tuple({**sample, "episode_id": key, "key": name, "index": index, "document": told}.values())

    _copy(proposal_model, proposals(), list(samples[0][1]))


if __name__ == "__main__":
    main()
