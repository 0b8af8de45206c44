"""People, pools and tasks in an empty database: prints each person's session and pool, as JSON.

`python -m benchmarks.parts.kills.seed TASKS KIND…`: how many tasks a pool has, and of which kind each person's is.
"""

import json
import sys

import django

MAX_STEPS = 1_000
PLATFORMS = {"terminal": "terminal", "desktop": "desktop", "browser": "browser"}
POLICY = "scripted"
FORM = ("drills", "form")
"""The browser's task: a page with a field that keeps what is typed into it."""


def main() -> None:
    django.setup()
    from django.conf import settings
    from django.test import Client

    from annotation_app.accounts.services import user_ensure
    from annotation_app.policies.models import PolicyRevision
    from annotation_app.tasks.services import pool_ensure, tasks_add

    count, kinds = int(sys.argv[1]), sys.argv[2:]
    policy = PolicyRevision.objects.get(name=POLICY)
    seeded = []
    for number, kind in enumerate(kinds):
        person = user_ensure(username=f"killed{number}", password="", name="", roles=["annotator"])
        pool = pool_ensure(
            name=f"kills {number}", members=[person], image=kind, platform=PLATFORMS[kind], max_steps=MAX_STEPS,
            policy=policy, candidates=1, thought_required=False, record=False,
        )  # fmt: skip
        tasks_add(pool=pool, definitions=[_task(kind, number, place) for place in range(count)])
        client = Client()
        client.force_login(person)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        seeded.append({"name": person.username, "kind": kind, "pool": pool.pk, "session": session})
    print(json.dumps(seeded))


def _task(kind: str, number: int, place: int):  # type: ignore[no-untyped-def]  # Django must be set up first
    from protocol.trajectory.tasks import Task, TaskVariant
    from vm_bridge.suites.registry import make_tasks

    name = f"kills-{number}-{place}"
    if kind == "browser":
        suite, wanted = FORM
        made = next(task for task in make_tasks(suite, TaskVariant(seed=place)) if task.name == wanted)
        return made.model_copy(update={"id": name, "max_steps": MAX_STEPS})
    return Task(id=name, instruction="Write lines.", platform=PLATFORMS[kind], seed=place, max_steps=MAX_STEPS)


if __name__ == "__main__":
    main()
