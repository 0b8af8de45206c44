"""What each answer of a part means: pure functions of what was found."""

from collections.abc import Sequence
from typing import NamedTuple

from annotation_app.health.schemas import CheckState, Problem

HEARTBEAT_TIMEOUT_SECONDS = 90.0
"""So old a heartbeat says that the worker or the beat is gone (seconds)."""
SILENT_PROBLEMS: frozenset[Problem] = frozenset({"no_heartbeat", "not_known", "not_heard"})
"""Problems of parts that report by themselves."""
MAX_QUEUE_LENGTH = 1_000
MAX_JOB_AGE_SECONDS = 300.0
"""A job that waited so long waits for a worker that does not come soon (seconds)."""
DISK_FULL_SHARE, DISK_FILLING_SHARE = 0.05, 0.15
"""Of a disk, free: below the first pictures and exports soon find no room."""
DISK_FULL_BYTES, DISK_FILLING_BYTES = 256 * 2**20, 2**30
"""With less free than the first any disk is full: a few exports or a database's log need as much. Below the
second there is a warning."""
MIN_DAYS_LEFT = 3
"""A disk that is full in fewer days than this is told of."""
MAX_USED_SHARE = 0.9
"""Of the connections, or of the memory, that there may be."""
REDIS_OPERATOR = "default"
"""The Redis user with every right. Programs that use it can read and change each other's keys."""
MAX_BACKUP_AGE_SECONDS = 7 * 86_400.0
MAX_BROWSER_AGE_SECONDS = 45 * 86_400.0
"""A Chromium that is older has missed a release, and with it weaknesses that are known to everybody."""


class PartStatus(NamedTuple):
    """What one part said."""

    state: CheckState = "ok"
    problem: Problem | None = None
    detail: str = ""
    figures: dict[str, float] = {}


class QueueStatus(NamedTuple):
    """Jobs that no worker has taken: how many, and for how long the oldest and the newest have waited."""

    length: int
    oldest: float | None
    newest: float | None


def worker_status(heartbeat: float | None, queue: QueueStatus) -> PartStatus:
    """`heartbeat` is the age of the last one: the beat queues it and the worker writes it. Where it is late, jobs that
    still come tell that the beat lives and the worker does not."""
    figures = {} if heartbeat is None else {"age": heartbeat}
    if heartbeat is not None and heartbeat < HEARTBEAT_TIMEOUT_SECONDS:
        return PartStatus(figures=figures)
    if queue.length:
        return PartStatus("down", "no_heartbeat", figures=figures)
    return PartStatus("warn", "not_known", figures=figures)


def beat_status(heartbeat: float | None, queue: QueueStatus) -> PartStatus:
    """See `worker_status`."""
    figures = {} if heartbeat is None else {"age": heartbeat}
    if heartbeat is not None and heartbeat < HEARTBEAT_TIMEOUT_SECONDS:
        return PartStatus(figures=figures)
    if queue.newest is not None and queue.newest < HEARTBEAT_TIMEOUT_SECONDS:
        return PartStatus()
    return PartStatus("down", "no_heartbeat", figures=figures)


def status_since_start(status: PartStatus, uptime: float, *, silent_before: bool = False) -> PartStatus:
    """`status` of a part at an `uptime` (seconds) of this process. One that is silent is starting until it is due to
    have reported: programs are started together. Not so one that was silent at the last look, before the start."""
    silent = status.problem in SILENT_PROBLEMS and uptime < HEARTBEAT_TIMEOUT_SECONDS
    return PartStatus("warn", "starting", figures=status.figures) if silent and not silent_before else status


def trainer_status(alive: bool, queue: QueueStatus) -> PartStatus:
    """Whether a worker listens for what needs the trainer; while one trains, jobs may wait for long."""
    figures = {"jobs": float(queue.length)} | ({} if queue.oldest is None else {"oldest": queue.oldest})
    return (
        PartStatus(figures=figures)
        if alive
        else PartStatus("down" if queue.length else "warn", "no_heartbeat", "", figures)
    )


def queue_length_status(queue: QueueStatus) -> PartStatus:
    """Too many jobs, or one that waits too long."""
    figures = {"jobs": float(queue.length)}
    if queue.oldest is not None:
        figures["oldest"] = queue.oldest
    if queue.length >= MAX_QUEUE_LENGTH:
        return PartStatus("down", "queue_long", figures=figures)
    if queue.oldest is not None and queue.oldest >= MAX_JOB_AGE_SECONDS:
        return PartStatus("warn", "queue_old", figures=figures)
    return PartStatus(figures=figures)


def disk_status(free: int, total: int, growth: float | None) -> PartStatus:
    """How much room there is, and for how long (`growth`: bytes a day)."""
    figures = {"free": float(free), "total": float(total)}
    days = None
    if growth is not None:
        figures["growth"] = growth
        if growth > 0:
            days = figures["days"] = free / growth
    if free <= DISK_FULL_SHARE * total or free < DISK_FULL_BYTES:
        return PartStatus("down", "disk_full", figures=figures)
    short = free <= DISK_FILLING_SHARE * total or free < DISK_FILLING_BYTES
    if short or (days is not None and days < MIN_DAYS_LEFT):
        return PartStatus("warn", "disk_filling", figures=figures)
    return PartStatus(figures=figures)


def database_status(size: int, connections: int, most: int) -> PartStatus:
    """A database that has nearly no connection left refuses people soon."""
    figures = {"bytes": float(size), "connections": float(connections), "most": float(most)}
    crowded = connections >= MAX_USED_SHARE * most
    return PartStatus("warn", "connections_short", figures=figures) if crowded else PartStatus(figures=figures)


def redis_status(used: int, most: int, user: str) -> PartStatus:
    """`most` is 0 where nothing bounds its memory; `user` is the web app's Redis user."""
    figures = {"bytes": float(used)} | ({"most": float(most)} if most else {})
    if most > 0 and used >= MAX_USED_SHARE * most:
        return PartStatus("warn", "memory_short", figures=figures)
    return (
        PartStatus("warn", "redis_shared", figures=figures) if user == REDIS_OPERATOR else PartStatus(figures=figures)
    )


def backup_status(age: float | None, size: int) -> PartStatus:
    """Whether there is a copy of the installation that is young enough to go back to."""
    if age is None:
        return PartStatus("warn", "no_backup")
    figures = {"age": age, "bytes": float(size)}
    return (
        PartStatus("warn", "backup_old", figures=figures)
        if age >= MAX_BACKUP_AGE_SECONDS
        else PartStatus(figures=figures)
    )


def host_status(
    silent_seconds: float,
    machines: int,
    capacity: int,
    draining: bool,
    *,
    browser_age: float | None = None,
    warnings: Sequence[Problem] = (),
) -> PartStatus:
    """A host that was not heard for a while has lost its machines; one that is emptied takes no new ones; a browser
    whose package was made long ago (`browser_age`, seconds) lacks what was mended since."""
    figures = {"machines": float(machines), "capacity": float(capacity), "age": max(0.0, silent_seconds)}
    if browser_age is not None:
        figures["browser_age"] = max(0.0, browser_age)
    if silent_seconds >= HEARTBEAT_TIMEOUT_SECONDS:
        return PartStatus("down", "not_heard", figures=figures)
    is_old = browser_age is not None and browser_age > MAX_BROWSER_AGE_SECONDS
    problems: tuple[Problem, ...] = (
        *(("draining",) if draining else ()),
        *warnings,
        *(("browser_old",) if is_old else ()),
    )
    if problems:
        return PartStatus("warn", problems[0], figures=figures)
    return PartStatus(figures=figures)
