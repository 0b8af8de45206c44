"""Machines, hosts, images, queues and quotas as those see them who look after them; answers of the manager."""

from typing import Literal

from pydantic import AwareDatetime, Field

from protocol.base import FrozenModel
from protocol.trajectory.observations import Platform
from protocol.trajectory.tasks import Language

MachineState = Literal["starting", "free", "leased", "resetting", "draining", "stranded"]
"""`resetting`: on its way from a lease to the next; `draining`: about to be destroyed; `stranded`: idle on a host
that fell silent, or that has not adopted it yet."""

TWIN_HOLDER = "twin:"
"""How the holder of a twin begins: a machine that is leased only where room is left, and taken back first when a claim
needs its place."""

MachineKind = Literal["desktop", "phone", "browser", "terminal"]

UnlimitedResource = Literal["cpu", "memory", "pids", "walls"]
"""`walls`: browsers run without any, as the bridge's user."""


HostWarning = Literal["redis_shared", "secret_shared"]
"""`redis_shared`: it uses the Redis user with every right. `secret_shared`: it knows the secret that signs for all
hosts, as in earlier versions."""


class QueuePosition(FrozenModel):
    """A place in the queue. It is kept for ten seconds after each time its request is asked for."""

    request_id: str
    image: str
    position: int = Field(ge=1)
    """1 is next."""
    waiting: int
    """How many wait for this image."""
    estimated_seconds: float | None
    """By the pace of the last machines given out; None while there is none."""
    why: Literal["none_free", "user_quota", "pool_quota"]


class RenewalResult(FrozenModel):
    """What became of one lease of a batch: its new end, or the error it would raise alone."""

    machine_id: str
    fencing_token: int
    expires_at: AwareDatetime | None = None
    code: str | None = None
    message: str | None = None


class MachineInfo(FrozenModel):
    """One machine, and who has it."""

    id: str
    kind: MachineKind | None
    """None while it is being made."""
    image: str
    host: str
    state: MachineState
    since: AwareDatetime
    holder: str | None = None
    user: str | None = None
    pool: str | None = None
    session: str | None = None
    fencing_token: int | None = None
    expires_at: AwareDatetime | None = None
    last_act: AwareDatetime | None = None
    cpu_seconds: float | None = None
    cpu_share: float | None = None
    """Of one core, between the last two looks of its host."""
    memory_bytes: int | None = None
    thumbnail: str | None = None
    """Where its host gives a small JPEG, to who has its key."""


class HostInfo(FrozenModel):
    """A place that makes machines."""

    id: str
    url: str
    images: tuple[str, ...]
    capacity: int
    machines: int
    draining: bool
    last_seen: AwareDatetime
    unbounded: tuple[UnlimitedResource, ...] | None = None
    """What its machines may take of it without a bound. None until it has made a machine."""
    browser_built: AwareDatetime | None = None
    """When the package of its Chromium was made. None where it has none."""
    warnings: tuple[HostWarning, ...] = ()
    """What whoever takes this host over could do beyond it."""


class ImageInfo(FrozenModel):
    """How many machines of an image there are for whom."""

    name: str
    target: int
    """How many are kept ready."""
    free: int
    coming: int
    waiting: int


class QueueEntry(FrozenModel):
    """Who waits, as the operator sees it."""

    request_id: str
    image: str
    position: int
    holder: str
    user: str
    pool: str
    session: str
    since: AwareDatetime


class LostMachine(FrozenModel):
    """A machine that ended under its lease."""

    machine_id: str
    image: str
    host: str
    holder: str
    user: str
    pool: str
    session: str
    reason: str
    at: AwareDatetime


class Quota(FrozenModel):
    """How many machines a user or a pool may hold at once; name `*` is for all without one of their own."""

    scope: Literal["user", "pool"]
    name: str = Field(min_length=1, max_length=200)
    limit: int | None = Field(ge=0, le=100_000)
    """None lifts it."""
    held: int = 0
    """How many it holds now; not read when a limit is set."""


class SuiteTaskInfo(FrozenModel):
    """A task of a suite, as somebody chooses it."""

    name: str
    instruction: str
    """Of its first level and the seed 0."""
    levels: int = Field(default=1, ge=1)
    has_script: bool = True
    """Whether a scripted expert plays it. A bridge that does not say so may have one."""
    sizes: tuple[str, ...] = ()
    """Sizes of its screen to choose from, as `640x480` (pixels), its own first; none: it has a single one."""


class SuiteInfo(FrozenModel):
    """A suite that comes with the bridge."""

    name: str
    platform: Platform
    languages: tuple[Language, ...]
    """Those its tasks are written in."""
    tasks: tuple[SuiteTaskInfo, ...]
    seeds: int = Field(default=1, ge=1)
    """So many seeds, from 0, each make another task. 1: a seed is one more attempt at the same task."""
