"""The manager's answers to operators: machines, hosts, images, queues and quotas."""

from typing import Literal

from pydantic import AwareDatetime, Field

from protocol.base import FrozenModel
from protocol.trajectory.observations import Platform
from protocol.trajectory.tasks import Language

MachineState = Literal["starting", "free", "leased", "resetting", "draining", "stranded"]
"""`resetting`: between two leases; `draining`: about to be destroyed; `stranded`: idle on a host that fell silent, or
that has not adopted it yet."""

TWIN_HOLDER = "twin:"
"""Prefix of a twin's holder. A twin is leased only if there is spare room, and reclaimed first when a claim needs its
place."""

MachineKind = Literal["desktop", "phone", "browser", "terminal"]

UnlimitedResource = Literal["cpu", "memory", "pids", "walls"]
"""`walls`: browsers run without a sandbox, as the bridge's user."""


HostWarning = Literal["redis_shared", "secret_shared"]
"""`redis_shared`: the host uses the Redis user with all rights. `secret_shared`: the host knows the secret that signs
for all hosts, as in earlier versions."""


class QueuePosition(FrozenModel):
    """A place in the queue. It is kept for ten seconds after each claim or status call of its request."""

    request_id: str
    image: str
    position: int = Field(ge=1)
    """1 is next."""
    waiting: int
    """Number of requests that wait for this image."""
    estimated_seconds: float | None
    """Estimated from the rate of the last leases; None if there were none."""
    why: Literal["none_free", "user_quota", "pool_quota"]


class RenewalResult(FrozenModel):
    """Result for one lease of a batch: its new end, or the error of a single renewal."""

    machine_id: str
    fencing_token: int
    expires_at: AwareDatetime | None = None
    code: str | None = None
    message: str | None = None


class MachineInfo(FrozenModel):
    """One machine, and its holder."""

    id: str
    kind: MachineKind | None
    """None while it is being created."""
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
    """CPU use in cores, between the host's last two measurements."""
    memory_bytes: int | None = None
    thumbnail: str | None = None
    """URL of a small JPEG on its host. The host's key is needed."""


class HostInfo(FrozenModel):
    """A machine host."""

    id: str
    url: str
    images: tuple[str, ...]
    capacity: int
    machines: int
    draining: bool
    last_seen: AwareDatetime
    unbounded: tuple[UnlimitedResource, ...] | None = None
    """Resources that its machines may use without limit. None until it has created a machine."""
    browser_built: AwareDatetime | None = None
    """Build time of its Chromium package. None if it has none."""
    warnings: tuple[HostWarning, ...] = ()
    """What an attacker on this host could do beyond it."""


class ImageInfo(FrozenModel):
    """Numbers of machines of an image by state."""

    name: str
    target: int
    """Number of machines to keep ready."""
    free: int
    coming: int
    waiting: int


class QueueEntry(FrozenModel):
    """A waiting request, for operators."""

    request_id: str
    image: str
    position: int
    holder: str
    user: str
    pool: str
    session: str
    since: AwareDatetime


class LostMachine(FrozenModel):
    """A machine that was lost during its lease."""

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
    """Maximum machines that a user or a pool may hold at once. The name `*` applies to all without their own quota."""

    scope: Literal["user", "pool"]
    name: str = Field(min_length=1, max_length=200)
    limit: int | None = Field(ge=0, le=100_000)
    """None removes the limit."""
    held: int = 0
    """Machines held now; ignored when a limit is set."""


class SuiteTaskInfo(FrozenModel):
    """A task of a suite, for selection."""

    name: str
    instruction: str
    """Instruction of its first level with seed 0."""
    levels: int = Field(default=1, ge=1)
    has_script: bool = True
    """Whether it has a scripted expert. A bridge that does not report this may have one."""
    sizes: tuple[str, ...] = ()
    """Screen sizes to choose from, as `640x480` (pixels), its default first. Empty: it has a single size."""


class SuiteInfo(FrozenModel):
    """A suite that comes with the bridge."""

    name: str
    platform: Platform
    languages: tuple[Language, ...]
    """Languages of its tasks."""
    tasks: tuple[SuiteTaskInfo, ...]
    seeds: int = Field(default=1, ge=1)
    """Number of seeds, from 0, that give different tasks. 1: a seed is another attempt at the same task."""
