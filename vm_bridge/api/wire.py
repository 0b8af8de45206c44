"""Request and response bodies between client and server, including responses that carry their pictures."""

from datetime import datetime
from typing import Annotated, Any

import msgpack
from pydantic import BaseModel, Field, StringConstraints

from protocol.actions.inputs import Text
from protocol.actions.types import Action, SessionName
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.messages.events import CommandId
from protocol.trajectory.observations import MAX_TIME_SCALE, Observation, Transition
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Machine
from vm_bridge.machine_io import MAX_COMPLETED_LINE

MEDIA_TYPE = "application/msgpack"
FENCING_HEADER = "X-Fencing-Token"
DRIVER_HEADER = "X-Driver-Token"
"""Rises with each process that drives a lease. Calls with a lower number than an earlier call are rejected."""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
"""Name of a machine, an image or a suite."""
Ttl = Annotated[float, Field(ge=1, le=3600)]


RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")]
"""Id of a request for a machine, so that a repeated request gets one machine."""
ShortText = Annotated[str, StringConstraints(max_length=200)]


class AllocateRequest(FrozenModel):
    """`POST /v1/leases`; times in seconds. Quotas and fairness apply to `user` and `pool`; `session` is the episode."""

    image: Name
    holder: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    user: ShortText = ""
    pool: ShortText = ""
    session: ShortText = ""
    request_id: RequestId | None = None
    """Idempotency key of the request. None lets the manager choose one."""
    ttl: Ttl = 60
    wait: Annotated[float, Field(ge=0, le=300)] = 30
    """How long the call may wait while no machine is free. Then it returns the place in the queue."""


class RenewRequest(FrozenModel):
    """`POST /v1/leases/{machine_id}/renew`; seconds."""

    ttl: Ttl = 60


class LeaseRef(FrozenModel):
    """A lease as its holder knows it."""

    machine_id: Name
    fencing_token: Annotated[int, Field(ge=1)]


class RenewManyRequest(FrozenModel):
    """`POST /v1/leases/renew`; seconds."""

    leases: Annotated[tuple[LeaseRef, ...], Field(min_length=1, max_length=500)]
    ttl: Ttl = 60


class WarmTarget(FrozenModel):
    """`PUT /v1/images/{image}/warm`."""

    count: Annotated[int, Field(ge=0, le=10_000)]
    at_least: bool = False
    """Whether a higher existing target is kept."""


class DrainRequest(FrozenModel):
    """`PUT /v1/hosts/{host}/draining`."""

    draining: bool


class ReclaimRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/reclaim`."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    """Shown to the machine's holder."""


class ObserveRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/observe`."""

    settle: bool = False


class PerformRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/perform`."""

    command_id: CommandId
    action: Action
    settle: bool = True
    snapshot: bool = False
    """Whether the response includes a snapshot of the state before the act."""
    expected: BlobRef | None = None
    """The settle may end at this picture; see `Machine.perform`."""
    wait_for_timers: bool = True
    """Whether to wait for timers that programs have set."""


class EvaluateRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/evaluate`."""

    answer: Annotated[str, StringConstraints(max_length=20_000)] = ""


class TimeScaleRequest(FrozenModel):
    """`PUT /v1/machines/{machine_id}/pace`."""

    rate: Annotated[float, Field(ge=0, le=MAX_TIME_SCALE)]


class RecordingPart(FrozenModel):
    """One MP4 of a recording: a new one begins when the picture's size changes or the file is large."""

    number: int
    started_at: datetime
    """Capture time of its first picture."""
    ended_at: datetime | None
    """None while it is being written, and permanently if the bridge was killed."""
    size: int
    """Bytes, once it has ended."""


class Recording(FrozenModel):
    """A machine's screen from `start_recording` to `stop_recording`, the end of its lease, or the size limit."""

    id: str
    machine_id: str
    running: bool
    parts: tuple[RecordingPart, ...]


class ProgramMessage(FrozenModel):
    """A message from the holder's program to a browser, with the page's time."""

    time_ms: float
    message: str
    refused: bool


class ProgramLog(FrozenModel):
    """`GET /v1/cdp/{episode}/messages`: a page of the messages that programs sent in an episode."""

    messages: tuple[ProgramMessage, ...]
    total: int


class TerminalInput(FrozenModel):
    """`POST /v1/machines/{machine_id}/terminals/{session}/input`."""

    text: Text


class TerminalSize(FrozenModel):
    """`PUT /v1/machines/{machine_id}/terminals/{session}/size`; characters."""

    columns: Annotated[int, Field(ge=2, le=500)]
    rows: Annotated[int, Field(ge=2, le=200)]


class CompletionRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/completions`: a command line up to the caret, and its terminal."""

    line: Annotated[str, StringConstraints(max_length=MAX_COMPLETED_LINE)]
    session: SessionName | None = None
    """None for a command that runs outside a terminal."""


class TaskList(FrozenModel):
    """`POST /v1/images/{image}/refusals`."""

    tasks: Annotated[tuple[Task, ...], Field(max_length=100)]


class TerminalText(FrozenModel):
    """What a terminal shows."""

    text: str


class ErrorResponse(FrozenModel):
    """Body of every error response; `code` is stable, `message` is for people."""

    code: str
    message: str


async def pack_response(machine: Machine, value: Observation | Transition) -> bytes:
    """A msgpack map: `json` is the value, `blobs` the bytes of its pictures by their sha256."""
    blobs = {ref.sha256: await machine.blob(ref) for ref in screenshot_refs(value)}
    return bytes(msgpack.packb({"json": value.model_dump_json(), "blobs": blobs}))


def unpack_response(data: bytes) -> tuple[str, dict[str, bytes]]:
    """The JSON text and the pictures of an answer."""
    answer: dict[str, Any] = msgpack.unpackb(data)
    return answer["json"], answer["blobs"]


def screenshot_refs(value: BaseModel) -> tuple[BlobRef, ...]:
    """The blob references in an observation or a transition."""
    observations = (value.before, value.after) if isinstance(value, Transition) else (value,)
    return tuple(o.screenshot for o in observations if isinstance(o, Observation) and o.screenshot is not None)
