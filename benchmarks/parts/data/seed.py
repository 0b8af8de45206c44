"""A database of so many steps, copied in: `python -m benchmarks.parts.data.seed STEPS`.

Every episode has 20 steps, every step two proposals at one step of five; pictures are 256 files that steps share. Of
the words one in ten is rare: there are ten thousand of those, each in about a tenth of a percent of the episodes.
Foreign keys are not checked while copying, and the catalogue is filled by PostgreSQL: what the platform does of both,
episode by episode, is no part of what is measured.
"""

import os
import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from typing import Any, NamedTuple
from uuid import UUID

import django

from benchmarks.parts.data.documents import POLICY, build_proposal, build_step

EPISODE = 20
PICTURES = 256
TASK_STRIDE = 7_919
"""Episodes are of tasks so far apart, so that every pool has some; a prime that divides no number of tasks here."""
POOL_PREFIX = "pool "
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
RARE = 10_000
RARE_SHARE = 0.1


def rare_word(number: int) -> str:
    """One of the rare words."""
    return f"{WORDS[number % len(WORDS)]}{number}"


@dataclass(frozen=True, slots=True)
class SeedSize:
    """How much there is. Episodes begin `episode_seconds` after each other, the first one at `start`."""

    steps: int
    tasks: int = 1_000
    pools: int = 5
    people: int = 20
    start: datetime = START
    episode_seconds: float = 30

    @property
    def episodes(self) -> int:
        """Whole ones."""
        return self.steps // EPISODE


def main() -> None:
    django.setup()
    seed_database(SeedSize(steps=int(sys.argv[1])))


def seed_database(size: SeedSize) -> None:
    """People, pools, tasks and finished episodes, in a database where Django is set up."""
    _people_and_tasks(size)
    _episodes(size)


def _sentence(draw: random.Random, length: int) -> str:
    words = draw.choices(WORDS, k=length)
    return " ".join(rare_word(draw.randrange(RARE)) if draw.random() < RARE_SHARE else word for word in words)


def _people_and_tasks(size: SeedSize) -> None:
    import simplejpeg
    from numpy import full, uint8

    from annotation_app.accounts.models import User
    from annotation_app.accounts.services import user_ensure
    from annotation_app.blobs.services import blob_record, blob_write
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from protocol.blobs import BlobRef
    from protocol.trajectory.tasks import Task

    people = [User(username=f"annotator{number}", roles=["annotator"]) for number in range(size.people)]
    for person in people:
        person.set_unusable_password()
    User.objects.bulk_create(people, ignore_conflicts=True)
    user_ensure(username="researcher", password="", name="", roles=["researcher"])
    pools = [pool_ensure(name=f"{POOL_PREFIX}{number}", members=[]) for number in range(size.pools)]
    draw = random.Random(1)
    for place, pool in enumerate(pools):
        count = size.tasks // len(pools)
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
    from protocol.blobs import BlobRef

    rows = Blob.objects.order_by("sha256")
    return [BlobRef(sha256=row.sha256, media_type=row.media_type, size=row.size) for row in rows]


def _row(instance: Any) -> dict[str, Any]:
    """An instance's columns as they are stored."""
    from django.db import connection

    fields = instance._meta.concrete_fields
    return {
        field.column: field.get_db_prep_save(field.pre_save(instance, add=True), connection)
        for field in fields
        if not (field.primary_key and field.get_internal_type() == "BigAutoField")
    }


class _TableCopies(ExitStack):
    """Rows into several tables at once, each over a connection of its own, without checks of foreign keys."""

    def into(self, table: str, columns: Sequence[str], before: str = "", after: str = "") -> Any:
        """What writes a row into a table; SQL around it runs over the same connection."""
        import psycopg
        from django.db import connection

        held = self.enter_context(psycopg.connect(**_address(connection)))
        held.execute("SET session_replication_role = replica")
        if before:
            held.execute(before)
        if after:
            self.callback(held.execute, after)
        names = ", ".join(f'"{column}"' for column in columns)
        return self.enter_context(held.cursor().copy(f'COPY "{table}" ({names}) FROM STDIN')).write_row


def _address(connection: Any) -> dict[str, Any]:
    given = connection.get_connection_params()
    return {name: given[name] for name in ("dbname", "user", "password", "host", "port") if name in given}


def _episodes(size: SeedSize) -> None:
    """As many episodes, in as many processes as there are processors, and the numbers that follow."""
    from django.db import connection

    from annotation_app.episodes.models import Proposal, Step
    from annotation_app.tasks.models import Assignment

    cores = os.cpu_count() or 1
    connection.close()
    with get_context("spawn").Pool(cores) as processes:
        processes.starmap(_seed_share, [(size, part, cores) for part in range(cores)])
    with connection.cursor() as cursor:
        for model in (Assignment, Step, Proposal):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM \"{table}\"")
        cursor.execute("VACUUM ANALYZE")


class _Key(NamedTuple):
    """An episode: its number, its id and when it began."""

    number: int
    id: UUID
    moment: datetime


def _seed_share(size: SeedSize, part: int, parts: int) -> None:
    """Every `parts`-th of the episodes."""
    django.setup()
    draw = random.Random(2)
    keys = [
        _Key(n, UUID(int=draw.getrandbits(128), version=4), size.start + timedelta(seconds=size.episode_seconds * n))
        for n in range(size.episodes)
    ][part::parts]
    with _TableCopies() as copies:
        _copy_episodes(copies, keys, random.Random(part))
    with _TableCopies() as copies:
        _copy_steps(copies, keys, random.Random(part))


def _copy_episodes(copies: _TableCopies, keys: list[_Key], draw: random.Random) -> None:
    """Assignments and episodes."""
    from annotation_app.accounts.models import User
    from annotation_app.episodes.models import Episode, EpisodeStateDocument
    from annotation_app.tasks.models import Assignment, Task
    from protocol.trajectory.observations import Verdict

    people = list(User.objects.filter(username__startswith="annotator").values_list("pk", flat=True))
    tasks = list(Task.objects.filter(pool__name__startswith=POOL_PREFIX).order_by("pk").values_list("pk", flat=True))
    held = _row(Assignment(task_id=tasks[0], annotator_id=people[0], state="done", expires_at=START))
    made = Episode(
        task_id=tasks[0],
        annotator_id=people[0],
        assignment_id=1,
        status="finished",
        outcome="success",
        review="accepted",
        version=EPISODE * 3,
        catalogued=EPISODE * 3,
        desk=EpisodeStateDocument(capabilities=("click", "type_text"), verdict=Verdict(success=True, score=1)),
        finished_at=START,
    )
    whole = _row(made)
    assign = copies.into(Assignment._meta.db_table, ["id", *held])
    begin = copies.into(Episode._meta.db_table, list(whole))
    for n, key, moment in keys:
        whose = {"task_id": tasks[n * TASK_STRIDE % len(tasks)], "annotator_id": people[n % len(people)]}
        assign((1 + n, *(held | whose).values()))
        changed = {
            "id": key,
            "assignment_id": 1 + n,
            "created_at": moment,
            "finished_at": moment,
            "outcome": draw.choice(("success", "success", "failure")),
            "review": draw.choice(("accepted", "accepted", "pending")),
            "reviewed_at": moment + timedelta(hours=1),
        }
        begin(tuple((whole | whose | changed).values()))


def _copy_steps(copies: _TableCopies, keys: list[_Key], draw: random.Random) -> None:
    """Steps, what was offered at them, and the catalogue's entries."""
    from annotation_app.episodes.models import Proposal, Step

    pictures = _pictures()
    first = pictures[0].sha256
    key, policy = keys[0].id, POLICY.label
    made = build_step(pictures[0], "COMMAND", "THOUGHT", START)
    one = _row(
        Step(episode_id=key, index=0, command_id="", actor="human", decision="accept", policy=policy, document=made)
    )
    head, tail = str(one["document"]).replace('"decision":"override"', '"decision":"DECISION"', 1).split("THOUGHT", 1)
    offers = [
        _row(
            Proposal(
                episode_id=key,
                key="",
                index=0,
                policy=policy,
                open=False,
                document=build_proposal("OFFER", rank, START),
            )
        )
        for rank in (1, 2)
    ]
    add = copies.into(Step._meta.db_table, list(one))
    offer = copies.into(Proposal._meta.db_table, list(offers[0]))
    told = copies.into("told", ("episode", "text", "decisions"), EPISODE_TEXT_TABLE, ENTRIES)
    for _, key, moment in keys:
        thoughts, decisions = [], set()
        for index in range(EPISODE):
            command = f"{key.hex}-{index}"
            decision = draw.choice(("accept", "accept", "override", "edit"))
            thought = _sentence(draw, 12)
            begun = head.replace('"index":0', f'"index":{index}', 1).replace("COMMAND", command, 1)
            shown = tail.replace(first, pictures[(key.int + index) % PICTURES].sha256)
            changed = {
                "episode_id": key,
                "index": index,
                "command_id": command,
                "decision": decision,
                "created_at": moment,
                "document": f"{begun.replace('DECISION', decision, 1)}{thought}{shown}",
            }
            add(tuple((one | changed).values()))
            thoughts.append(thought)
            decisions.add(decision)
            for number, sample in enumerate(offers) if index % 5 == 0 else ():
                name = f"{key.hex[:20]}-{index}-{number}"
                document = str(sample["document"]).replace("OFFER", name, 1)
                changed = {"episode_id": key, "key": name, "index": index, "document": document}
                offer(tuple((sample | changed).values()))
        told((key, "\n".join(thoughts), sorted(decisions)))


EPISODE_TEXT_TABLE = "CREATE TEMPORARY TABLE told (episode uuid, text text, decisions varchar(8)[])"
ENTRIES = f"""
INSERT INTO catalogue_entry (episode_id, pool_id, kind, words, decisions, policies, applications, actions,
                             steps, reward, created_at)
SELECT episode.id, task.pool_id, task.kind,
       setweight(to_tsvector('english', task.definition::jsonb ->> 'instruction'), 'A')
       || setweight(to_tsvector('english', told.text), 'B')
       || setweight(to_tsvector('english', repeat(E'click Click at (20, 30)\n', {EPISODE})), 'C'),
       told.decisions, '{{nano r1}}', ARRAY[task.definition::jsonb -> 'parameters' ->> 'application'], '{{click}}',
       {EPISODE}, 1, episode.created_at
FROM told JOIN episodes_episode episode ON episode.id = told.episode JOIN tasks_task task ON task.id = episode.task_id
"""


if __name__ == "__main__":
    main()
