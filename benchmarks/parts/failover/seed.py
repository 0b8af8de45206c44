"""People with an episode each, in an empty database: prints every episode with its annotator's session, as JSON.

`python -m benchmarks.parts.failover.seed PEOPLE STEPS`: how many people, and how many steps an episode may have.
"""

import json
import sys

import django
from django.core.management import call_command


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    from django.conf import settings
    from django.test import Client

    from annotation_app.accounts.services import user_ensure
    from annotation_app.episodes.services import episode_next
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from protocol.trajectory.tasks import Task

    people = [
        user_ensure(username=f"pilot{number}", password="", name="", roles=["annotator"])
        for number in range(int(sys.argv[1]))
    ]
    steps = int(sys.argv[2])
    # Of the limits of a task and of its pool the lower one counts.
    pool = pool_ensure(name="failover", members=people, max_steps=steps, record=False)
    tasks = [
        Task(
            id=f"task-{name}",
            instruction="Click.",
            suite="fake",
            name="type",
            parameters={"text": name},
            max_steps=steps,
        )
        for name in map(str, range(len(people)))
    ]
    tasks_add(pool=pool, definitions=tasks)
    claimed = []
    for user in people:
        client = Client()
        client.force_login(user)
        episode = episode_next(user=user)
        assert episode is not None
        claimed.append({"episode": str(episode.pk), "session": client.cookies[settings.SESSION_COOKIE_NAME].value})
    print(json.dumps(claimed))


if __name__ == "__main__":
    main()
