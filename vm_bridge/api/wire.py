"""What travels between client and server: bodies, and answers that carry the pictures they speak of."""

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
"""Rises with each process that drives a lease; calls with a lower one than came before are refused."""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
"""A machine, an image or a suite."""
Ttl = Annotated[float, Field(ge=1, le=3600)]


RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")]
"""A wish for a machine, so that asking twice gives one."""
ShortText = Annotated[str, StringConstraints(max_length=200)]


class AllocateRequest(FrozenModel):
    """`POST /v1/leases`; seconds. `user` and `pool` are whom quotas and fairness know; `session` is the episode."""

    image: Name
    holder: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    user: ShortText = ""
    pool: ShortText = ""
    session: ShortText = ""
    request_id: RequestId | None = None
    """Asked again with the same one, this is the same wish; None for one of the manager's making."""
    ttl: Ttl = 60
    wait: Annotated[float, Field(ge=0, le=300)] = 30
    """How long the answer may take while nothing is free; then it is the place in the queue."""


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
    """Whether a higher target stays."""


class DrainRequest(FrozenModel):
    """`PUT /v1/hosts/{host}/draining`."""

    draining: bool


class ReclaimRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/reclaim`."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    """Told to who held the machine."""


class ObserveRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/observe`."""

    settle: bool = False


class PerformRequest(FrozenModel):
    """`POST /v1/machines/{machine_id}/perform`."""

    command_id: CommandId
    action: Action
    settle: bool = True
    snapshot: bool = False
    """Whether the answer names the state before the act."""
    expected: BlobRef | None = None
    """A picture at which the wait may end; see `Machine.perform`."""
    wait_for_timers: bool = True
    """Whether to wait for the times that programs have set themselves."""


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
    """When its first picture was captured."""
    ended_at: datetime | None
    """None while it is written, and for good where the bridge was killed."""
    size: int
    """Bytes, once it has ended."""


class Recording(FrozenModel):
    """What a machine showed from `start_recording` to `stop_recording`, the end of its lease, or the largest size."""

    id: str
    machine_id: str
    running: bool
    parts: tuple[RecordingPart, ...]


class ProgramMessage(FrozenModel):
    """What a program of its holder's sent to a browser, at which of the page's times."""

    time_ms: float
    message: str
    refused: bool


class ProgramLog(FrozenModel):
    """`GET /v1/cdp/{episode}/messages`: a page of what programs sent in an episode."""

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
    """`POST /v1/machines/{machine_id}/completions`: a command line up to the caret, and the terminal it is for."""

    line: Annotated[str, StringConstraints(max_length=MAX_COMPLETED_LINE)]
    session: SessionName | None = None
    """None for a command that is run by itself."""


class TaskList(FrozenModel):
    """`POST /v1/images/{image}/refusals`."""

    tasks: Annotated[tuple[Task, ...], Field(max_length=100)]


class TerminalText(FrozenModel):
    """What a terminal shows."""

    text: str


class ErrorResponse(FrozenModel):
    """Every answer that is no success; `code` is stable, `message` is for people."""

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
    """The references an observation or a transition holds."""
    observations = (value.before, value.after) if isinstance(value, Transition) else (value,)
    return tuple(o.screenshot for o in observations if isinstance(o, Observation) and o.screenshot is not None)
