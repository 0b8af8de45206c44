"""One of everything in an empty database: prints who may call what, and everybody's session, as JSON.

`python -m benchmarks.parts.safety.seed`, in the surroundings of a platform.
"""

import json
from typing import Any

import django

from benchmarks.parts.safety.scopes import SCOPE


def main() -> None:
    django.setup()
    from annotation_app.accounts.services import token_add, user_ensure
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from benchmarks.parts.safety.rules import CALLERS
    from benchmarks.parts.safety.things import PASSWORD, make_things, user_of
    from protocol.trajectory.tasks import Task

    people = {
        name: user_ensure(username=name, password=PASSWORD, name=name.title(), roles=[role])
        for name, role in {
            "owner": "annotator", "annotator": "annotator", "reviewer": "reviewer", "researcher": "researcher",
        }.items()
    }  # fmt: skip
    pool = pool_ensure(
        name="safety", members=[people["owner"], people["annotator"]], image="terminal", priority=1_000, record=False
    )
    tasks_add(
        pool=pool,
        definitions=[Task(id=f"safety-{number}", instruction="Write.", platform="terminal") for number in (1, 2)],
    )
    things = make_things(**people, pool=pool)
    token, _ = token_add(user=things.admin, name="feed", days=1, scopes=(SCOPE,))
    print(
        json.dumps(
            {
                "sessions": {caller: _session(user_of(things, caller)) for caller in CALLERS},
                "calls": _calls(things),
                "token": token,
                "episode": str(things.episode.pk),
                "pool": pool.pk,
                "password": PASSWORD,
            }
        )
    )


def _session(user: Any) -> str:
    from django.conf import settings
    from django.test import Client

    if user is None:
        return ""
    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def _calls(things: Any) -> list[dict[str, Any]]:
    """Every row of the permission table with its path and body filled in."""
    from benchmarks.parts.safety.permissions import FILES, ROUTES, filled

    calls = []
    for route, rule in ROUTES.items():
        method, target = filled(route, rule, things)
        name, contents, fields = FILES.get(route, ("", "", {}))
        calls.append(
            {
                "route": route, "method": method, "target": target, "callers": sorted(rule.callers), "fields": fields,
                "body": None if method in ("GET", "HEAD") else rule.body(things),
                "file": [name, contents] if name else None,
            }
        )  # fmt: skip
    return calls


if __name__ == "__main__":
    main()
