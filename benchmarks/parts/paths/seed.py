"""A person and a pool of desktops that no policy works in, in a platform's database: prints session and pool as JSON.

Run as a program, since Django must be set up first: `python -m benchmarks.parts.paths.seed`.
"""

import json

import django


def main() -> None:
    django.setup()
    from django.conf import settings
    from django.test import Client

    from annotation_app.accounts.services import user_ensure
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from protocol.trajectory.tasks import Task

    person = user_ensure(username="pathfinder", password="", name="", roles=["annotator"])
    pool = pool_ensure(
        name="paths", members=[person], image="desktop", platform="desktop", thought_required=False, record=False
    )
    tasks_add(pool=pool, definitions=[Task(id="paths-1", instruction="Click.", platform="desktop", max_steps=1_000)])
    client = Client()
    client.force_login(person)
    print(json.dumps({"session": client.cookies[settings.SESSION_COOKIE_NAME].value, "pool": pool.pk}))


if __name__ == "__main__":
    main()
