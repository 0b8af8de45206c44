"""Two hundred annotators claim tasks of web processes: how long each waits, and whether two were given one task.

They are signed in in browsers of their own, and their connections stay open. First each goes on by themselves: thinks
for 0 to 20 s, evenly drawn, ends their episode, claims the next; only the claim is timed. That is twenty claims a
second, as of two hundred people who need ten seconds for a task. Then all two hundred claim in the same moment. There
are as many web processes as processors; the people are spread over them. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any, NamedTuple
from uuid import UUID

import django

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.concurrency import run_together
from benchmarks.parts.figures import percentile, print_progress

ANNOTATORS = 200
WARM = 10
"""People beside them who claim once before anything is timed, one after the other, of every process."""
TASKS = 20_000
OVERLAP = 3
SECONDS = 40.0
"""How long each goes on by themselves."""
THINKING_SECONDS = 20.0
"""Longest time between two claims of one person (seconds)."""
HOST = "127.0.0.1"
CSRF = "c" * 32
START_SECONDS = 120.0
CLAIM_SECONDS = 120.0
"""Longest that one claim may take."""
STOP_SECONDS = 30.0


class Person(NamedTuple):
    """Who claims, over which connection."""

    number: int
    session: str
    port: int


def seed(people: int) -> list[str]:
    """People, signed in, and two pools: one in which one person does a task, one in which three do. Their sessions."""
    from django.conf import settings
    from django.test import Client

    from annotation_app.accounts.models import User
    from annotation_app.policies.services import policy_ensure
    from annotation_app.tasks.services import pool_ensure, tasks_add
    from protocol.trajectory.tasks import Task

    policy = policy_ensure(name="queue", revision="r1", base_url="http://127.0.0.1:9/v1", dialect="nano", model="m")
    for name, overlap in (("queue once", 1), ("queue overlap", OVERLAP)):
        pool = pool_ensure(name=name, members=[], open_to_all=True, overlap=overlap, policy=policy)
        tasks_add(pool=pool, definitions=[Task(id=f"t{n}", instruction=f"Do {n}.") for n in range(TASKS)])
    made = [User(username=f"queue-{number}", roles=["annotator"], password="!") for number in range(people)]
    sessions = []
    for person in User.objects.bulk_create(made):
        client = Client()
        client.force_login(person)
        sessions.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    return sessions


@contextmanager
def web_processes(count: int) -> Iterator[list[int]]:
    """So many web processes, as the platform starts them; their ports."""
    ports = free_ports(count)
    command = (sys.executable, "-m", "daphne", "-b", HOST)
    processes = [
        subprocess.Popen(
            [*command, "-p", str(port), "annotation_app.asgi_server:application"],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for port in ports
    ]  # fmt: skip
    try:
        for port in ports:
            _wait_until_ready(f"http://{HOST}:{port}/api/health")
        yield ports
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise RuntimeError(f"{url} does not answer")


class QueueClient:
    """A person's connection to the web process they are spread to."""

    def __init__(self, person: Person, pools: list[int]) -> None:
        self.person, self._pools, self._round = person, pools, 0
        self.open: str | None = None
        self.took: list[float] = []

    async def __aenter__(self) -> "QueueClient":
        self._reader, self._writer = await asyncio.open_connection(HOST, self.person.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def claim(self) -> None:
        """Claim of one pool and the other in turn, and note how long it took (milliseconds)."""
        body = json.dumps({"pool_id": self._pools[self._round % len(self._pools)]})
        self._round += 1
        begun = time.perf_counter()
        self._writer.write(
            f"POST /api/queue/next HTTP/1.1\r\nHost: {HOST}:{self.person.port}\r\nX-CSRFToken: {CSRF}\r\n"
            f"Cookie: sessionid={self.person.session}; csrftoken={CSRF}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        async with asyncio.timeout(CLAIM_SECONDS):
            head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
            told = await self._reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        self.took.append((time.perf_counter() - begun) * 1_000)
        assert head.startswith(b"http/1.1 200"), told
        self.open = json.loads(told)["episode_id"]
        assert self.open is not None, "there are tasks enough"


def finish(episode: str) -> None:
    """End an episode, as the process that drives it does."""
    from annotation_app.episodes.services import episode_change

    episode_change(episode_id=UUID(episode), token=None, fields={"status": "finished", "outcome": "success"})


async def measure(people: list[Person], warm: list[Person], pools: list[int], seconds: float) -> dict[str, Any]:
    """Every figure of waiting."""
    loop = asyncio.get_running_loop()
    queue_clients = [QueueClient(person, pools) for person in people]
    context = get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=django.setup) as drivers:

        async def end(queue_client: QueueClient) -> None:
            if queue_client.open is not None:
                await loop.run_in_executor(drivers, finish, queue_client.open)
                queue_client.open = None

        async def work(queue_client: QueueClient, until: float) -> None:
            chance = random.Random(queue_client.person.number)
            while (thought := loop.time() + THINKING_SECONDS * chance.random()) < until:
                await asyncio.sleep(thought - loop.time())
                await end(queue_client)
                await queue_client.claim()

        for person in warm:
            async with QueueClient(person, pools) as queue_client:
                await queue_client.claim()
                await end(queue_client)
        for queue_client in queue_clients:
            await queue_client.__aenter__()
        until = loop.time() + seconds
        await run_together(*(work(queue_client, until) for queue_client in queue_clients))
        steady = [each for queue_client in queue_clients for each in queue_client.took]
        await run_together(*map(end, queue_clients))
        for queue_client in queue_clients:
            queue_client.took.clear()
        begun = time.perf_counter()
        await run_together(*(queue_client.claim() for queue_client in queue_clients))
        burst = time.perf_counter() - begun
        await run_together(*map(end, queue_clients))
        for queue_client in queue_clients:
            await queue_client.__aexit__()
    together = [each for queue_client in queue_clients for each in queue_client.took]
    return {
        "queue_next_p50_ms": percentile(steady, 0.5),
        "queue_next_p95_ms": percentile(steady, 0.95),
        "queue_next_per_s": round(len(steady) / seconds, 1),
        "queue_claims": len(steady) + len(together),
        "queue_same_moment_p50_ms": percentile(together, 0.5),
        "queue_same_moment_p95_ms": percentile(together, 0.95),
        "queue_same_moment_per_s": round(len(together) / burst, 1),
    }


def count_double_assignments() -> int:
    """Assignments beyond what a task's pool asks for, and tasks whose counts are not those of their assignments."""
    from django.db.models import Count, F, Q

    from annotation_app.tasks.models import AssignmentState, Task

    held = Count("assignments", filter=Q(assignments__state__in=(AssignmentState.ACTIVE, AssignmentState.RETURNED)))
    done = Count("assignments", filter=Q(assignments__state=AssignmentState.DONE))
    given = Task.objects.filter(pool__name__startswith="queue ").annotate(now=held, ended=done)
    over = given.filter(now__gt=F("pool__overlap") - F("ended")).count()
    return over + given.exclude(now=F("held"), ended=F("finished")).count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    seconds = parser.parse_args().seconds
    django.setup()
    from annotation_app.tasks.models import Pool

    cores = os.cpu_count() or 1
    warmers = WARM * cores
    sessions = seed(ANNOTATORS + warmers)
    pools = list(Pool.objects.filter(name__startswith="queue ").order_by("id").values_list("pk", flat=True))
    with web_processes(cores) as ports:
        people = [Person(n, session, ports[n % cores]) for n, session in enumerate(sessions)]
        print_progress(f"{ANNOTATORS} annotators at {cores} web processes")
        found = asyncio.run(measure(people[warmers:], people[:warmers], pools, seconds))
    print(json.dumps({**found, "queue_web_processes": cores, "double_assignments": count_double_assignments()}))


if __name__ == "__main__":
    main()
