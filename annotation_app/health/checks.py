"""What each answer of a part means: pure functions of what was found."""

from typing import NamedTuple

from annotation_app.health.schemas import CheckState, Problem

LATE = 90.0
"""So old a heartbeat says that the worker or the beat is gone (seconds)."""
LONG_QUEUE = 1_000
OLD_JOB = 300.0
"""A job that waited so long waits for a worker that does not come soon (seconds)."""
LITTLE_ROOM, TIGHT = 0.05, 0.15
"""Of a disk, free: below the first pictures and exports soon find no room."""
DAYS_LEFT = 3
"""A disk that is full in fewer days than this is told of."""
CROWDED = 0.9
"""Of the connections, or of the memory, that there may be."""
REDIS_OPERATOR = "default"
"""The Redis user with every right. Programs that use it can read and change each other's keys."""
BACKUP_OLD = 7 * 86_400.0


class Answer(NamedTuple):
    """What one part said."""

    state: CheckState = "ok"
    problem: Problem | None = None
    detail: str = ""
    figures: dict[str, float] = {}


class Queue(NamedTuple):
    """Jobs that no worker has taken: how many, and for how long the oldest and the newest have waited."""

    length: int
    oldest: float | None
    newest: float | None


def worker_of(heartbeat: float | None, queue: Queue) -> Answer:
    """`heartbeat` is the age of the last one: the beat queues it and the worker writes it. Where it is late, jobs that
    still come tell that the beat lives and the worker does not."""
    figures = {} if heartbeat is None else {"age": heartbeat}
    if heartbeat is not None and heartbeat < LATE:
        return Answer(figures=figures)
    if queue.length:
        return Answer("down", "no_heartbeat", figures=figures)
    return Answer("warn", "not_known", figures=figures)


def beat_of(heartbeat: float | None, queue: Queue) -> Answer:
    """See `worker_of`."""
    figures = {} if heartbeat is None else {"age": heartbeat}
    if heartbeat is not None and heartbeat < LATE:
        return Answer(figures=figures)
    if queue.newest is not None and queue.newest < LATE:
        return Answer()
    return Answer("down", "no_heartbeat", figures=figures)


def trainer_of(heard: bool, queue: Queue) -> Answer:
    """Whether a worker listens for what needs the trainer; while one trains, jobs may wait for long."""
    figures = {"jobs": float(queue.length)} | ({} if queue.oldest is None else {"oldest": queue.oldest})
    return Answer(figures=figures) if heard else Answer("down" if queue.length else "warn", "no_heartbeat", "", figures)


def queue_of(queue: Queue) -> Answer:
    """Too many jobs, or one that waits too long."""
    figures = {"jobs": float(queue.length)}
    if queue.oldest is not None:
        figures["oldest"] = queue.oldest
    if queue.length >= LONG_QUEUE:
        return Answer("down", "queue_long", figures=figures)
    if queue.oldest is not None and queue.oldest >= OLD_JOB:
        return Answer("warn", "queue_old", figures=figures)
    return Answer(figures=figures)


def disk_of(free: int, total: int, growth: float | None) -> Answer:
    """How much room there is, and for how long (`growth`: bytes a day)."""
    figures = {"free": float(free), "total": float(total)}
    days = None
    if growth is not None:
        figures["growth"] = growth
        if growth > 0:
            days = figures["days"] = free / growth
    if free <= LITTLE_ROOM * total:
        return Answer("down", "disk_full", figures=figures)
    if free <= TIGHT * total or (days is not None and days < DAYS_LEFT):
        return Answer("warn", "disk_filling", figures=figures)
    return Answer(figures=figures)


def database_of(size: int, connections: int, most: int) -> Answer:
    """A database that has nearly no connection left refuses people soon."""
    figures = {"bytes": float(size), "connections": float(connections), "most": float(most)}
    crowded = connections >= CROWDED * most
    return Answer("warn", "connections_short", figures=figures) if crowded else Answer(figures=figures)


def redis_of(used: int, most: int, user: str) -> Answer:
    """`most` is 0 where nothing bounds its memory; `user` is the web app's Redis user."""
    figures = {"bytes": float(used)} | ({"most": float(most)} if most else {})
    if most > 0 and used >= CROWDED * most:
        return Answer("warn", "memory_short", figures=figures)
    return Answer("warn", "redis_shared", figures=figures) if user == REDIS_OPERATOR else Answer(figures=figures)


def backup_of(age: float | None, size: int) -> Answer:
    """Whether there is a copy of the installation that is young enough to go back to."""
    if age is None:
        return Answer("warn", "no_backup")
    figures = {"age": age, "bytes": float(size)}
    return Answer("warn", "backup_old", figures=figures) if age >= BACKUP_OLD else Answer(figures=figures)


def host_of(silent: float, machines: int, capacity: int, draining: bool) -> Answer:
    """A host that was not heard for a while has lost its machines; one that is emptied takes no new ones."""
    figures = {"machines": float(machines), "capacity": float(capacity), "age": max(0.0, silent)}
    if silent >= LATE:
        return Answer("down", "not_heard", figures=figures)
    return Answer("warn", "draining", figures=figures) if draining else Answer(figures=figures)
