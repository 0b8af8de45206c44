"""The work of a laboratory in a platform's database: prints the sessions of people, as JSON.

`python -m benchmarks.parts.rooms.seed STEPS TASKS LIVE`: steps and tasks there are, and annotators that get a task of
the pool of live sessions. Half of the tasks have an episode, the last of which ended a moment ago.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import django

from benchmarks.parts.data.seed import EPISODE, POOL_PREFIX, SeedSize, seed_database

POOLS, PEOPLE, STAFF = 20, 195, ("reviewer", "researcher", "admin")
"""With the demo's five these are 200 people and more."""
DAYS = 60
"""Over which the episodes are spread."""
LIVE_POOL = "Live sessions"
LIVE_STEPS = 1_000


def main() -> None:
    django.setup()
    steps, tasks, live = map(int, sys.argv[1:])
    start = datetime.now(UTC) - timedelta(days=DAYS)
    seed_database(
        SeedSize(
            steps=steps,
            tasks=tasks,
            pools=POOLS,
            people=PEOPLE,
            start=start,
            episode_seconds=DAYS * 86_400 * EPISODE / steps,
        )
    )
    _finish_tasks()
    print(json.dumps(_sessions(live)))


def _finish_tasks() -> None:
    """What an episode was finished of waits no more, in pools that a script proposes in. The table is swept then, as it
    is in a database whose tasks were not all changed a moment ago."""
    from django.db import connection

    from annotation_app.policies.models import PolicyRevision
    from annotation_app.tasks.models import Assignment, Pool, Task

    Task.objects.filter(pk__in=Assignment.objects.values("task")).update(state="done", done=1, finished=1)
    Pool.objects.filter(name__startswith=POOL_PREFIX).update(policy=PolicyRevision.objects.get(name="scripted"))
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {Task._meta.db_table}")


def _sessions(live: int) -> dict[str, Any]:
    """By role a person's session; and of the annotators that get a live task theirs, with the pool."""
    from annotation_app.accounts.models import User
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from protocol.trajectory.tasks import Task

    annotators = list(User.objects.filter(username__regex=r"^annotator\d+$").order_by("pk")[1 : live + 2])
    pool = pool_ensure(
        name=LIVE_POOL,
        members=annotators[:live],
        max_steps=LIVE_STEPS,
        thought_required=False,
        priority=1_000,
        record=False,
    )
    tasks_add(pool=pool, definitions=[Task(id=f"live-{number}", instruction="Click.") for number in range(live)])
    people = {name: User.objects.get(username=name) for name in STAFF}
    return {
        "roles": {name: _session(person) for name, person in {"annotator": annotators[live], **people}.items()},
        "live": [_session(person) for person in annotators[:live]],
        "pool": pool.pk,
    }


def _session(person: Any) -> str:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


if __name__ == "__main__":
    main()
