"""Two hundred annotators claim tasks: how long the queue lets them wait, and whether two were given one task.

Each claims, works for a moment and finishes, again and again, over the same service the web app calls, in as many
processes as the machine has cores. Their pauses are ten seconds long on average, many times shorter than real work.
A second figure is of all claiming in the very same moment. The last line is one JSON object.
"""

import argparse
import json
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import django

ANNOTATORS = 200
TASKS = 20_000
OVERLAP = 3
ROUNDS = 3
PAUSE = 10.0
"""Seconds between two claims of one person, on average."""


def seed() -> tuple[int, ...]:
    """Annotators, and two pools: one in which one person does a task, one in which three do."""
    from annotation_app.accounts.models import User
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from vocabulary.tasks import Task

    people = User.objects.bulk_create(
        [User(username=f"queue-{number}", roles=["annotator"], password="!") for number in range(ANNOTATORS)]
    )
    for name, overlap in (("queue once", 1), ("queue overlap", OVERLAP)):
        pool = pool_ensure(name=name, members=[], open_to_all=True, overlap=overlap)
        tasks_add(pool=pool, definitions=[Task(id=f"t{n}", instruction=f"Do {n}.") for n in range(TASKS)])
    return tuple(person.pk for person in people)


def work(people: tuple[int, ...], begin: float, rounds: int, pause: float) -> list[float]:
    """Let these people claim and finish; how long each claim took (seconds)."""
    django.setup()
    from django.db import connection

    from annotation_app.accounts.models import User
    from annotation_app.episodes.services import episode_change, episode_next
    from annotation_app.tasks.models import Pool

    pools = list(Pool.objects.filter(name__startswith="queue ").order_by("id").values_list("pk", flat=True))

    def one(person: int) -> list[float]:
        chance = random.Random(person)
        user, took = User.objects.get(pk=person), []
        connection.close()
        time.sleep(max(0.0, begin - time.time()))
        for number in range(rounds):
            time.sleep(2 * pause * chance.random())
            begun = time.perf_counter()
            episode = episode_next(user=user, pool_id=pools[number % 2])
            connection.close()
            took.append(time.perf_counter() - begun)
            assert episode is not None, "there are tasks enough"
            episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})
            connection.close()
        return took

    with ThreadPoolExecutor(len(people)) as threads:
        return [each for took in threads.map(one, people) for each in took]


def together(people: tuple[int, ...], rounds: int, pause: float) -> list[float]:
    """All of them at once, over every core."""
    cores = os.cpu_count() or 1
    parts = [people[part::cores] for part in range(cores)]
    begin = time.time() + 8  # by then every process has started
    with get_context("spawn").Pool(cores) as processes:
        jobs = [(part, begin, rounds, pause) for part in parts]
        return [each for took in processes.starmap(work, jobs) for each in took]


def doubled() -> int:
    """Assignments beyond what a task's pool asks for, and tasks whose counts are not those of their assignments."""
    from django.db.models import Count, F, Q

    from annotation_app.tasks.models import AssignmentState, Task

    held = Count("assignments", filter=Q(assignments__state__in=(AssignmentState.ACTIVE, AssignmentState.RETURNED)))
    done = Count("assignments", filter=Q(assignments__state=AssignmentState.DONE))
    given = Task.objects.filter(pool__name__startswith="queue ").annotate(now=held, ended=done)
    over = given.filter(now__gt=F("pool__overlap") - F("ended")).count()
    return over + given.exclude(now=F("held"), ended=F("finished")).count()


def share(took: list[float], percent: int) -> float:
    """A percentile in milliseconds."""
    return round(sorted(took)[min(len(took) - 1, len(took) * percent // 100)] * 1_000, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    django.setup()
    people = seed()
    print(f"{ANNOTATORS} annotators, {2 * TASKS} tasks", file=sys.stderr)
    steady = together(people, rounds, PAUSE)
    burst = together(people, 1, 0.0)
    found: dict[str, Any] = {
        "queue_next_p50_ms": share(steady, 50),
        "queue_next_p95_ms": share(steady, 95),
        "queue_claims": len(steady) + len(burst),
        "queue_same_moment_p95_ms": share(burst, 95),
        "double_assignments": doubled(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
