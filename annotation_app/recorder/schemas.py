"""What recorders and their people send, and what they are shown."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from annotation_app.accounts.schemas import Name
from protocol.base import FrozenModel

PAIRING_VERSION = 1
"""Of what recorder and platform say to each other; a recorder that speaks another one is refused."""
RecordedSessionState = Literal[
    "uploading", "stopped", "importing", "failed", "waiting", "reviewed", "withdrawn", "deleted"
]
"""`stopped`: the upload broke off and its parts have expired; `waiting`: it was imported and waits for a review."""


class ComputerIn(FrozenModel):
    """What the person calls the computer to be paired. The recorder sends no host name."""

    name: Name


class PairingCode(FrozenModel):
    """A code that pairs one computer, shown this once."""

    code: str
    expires_at: datetime


class ComputerOut(FrozenModel):
    """A computer that is paired, or whose code waits; `paired_at` is null then."""

    id: int
    name: str
    paired_at: datetime | None
    used_at: datetime | None
    expires_at: datetime
    """When the code, or the pairing, ends."""


class PairIn(FrozenModel):
    """A code as the recorder sends it."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=r"^[^\x00-\x1f]*$")]
    version: Annotated[int, Field(ge=0, le=2**31 - 1)]


class Paired(FrozenModel):
    """The recorder's own token, shown this once, and what the person called the computer."""

    token: str
    name: str
    expires_at: datetime


class Brief(FrozenModel):
    """A task of a pool that takes recordings: what is to be done on the person's own computer."""

    key: str
    instruction: str


class PoolTerms(FrozenModel):
    """What a pool asks its people to agree to (Markdown), and whether this person has."""

    version: int
    text: str
    agreed: bool


class PoolConsentIn(FrozenModel):
    """The version of a pool's terms that a person read on their computer."""

    version: Annotated[int, Field(ge=1, le=2**31 - 1)]


class TermsToAgree(FrozenModel):
    """Terms of a pool that this person has not agreed to: it takes no recording of theirs before."""

    pool: int
    name: str
    version: int
    text: str


class RecordingPool(FrozenModel):
    """A pool that takes this person's recordings; `briefs` are the first of its tasks that are not withdrawn. `terms`
    are null where it has none."""

    id: int
    name: str
    description: str
    instructions: str
    terms: PoolTerms | None
    briefs: tuple[Brief, ...]


class SessionUploadIn(FrozenModel):
    """A session that is to arrive in parts, as its `Upload-Metadata` describes it."""

    session: UUID
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)]
    task: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    """The key of the task whose brief was recorded; empty: the person's own instruction."""
    sha256: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")] = ""
    again: bool = False
    """Whether the person sends on purpose what they deleted here before."""


class SessionState(FrozenModel):
    """The state of a recording, for the recorder that made it."""

    state: RecordedSessionState
    deleted_at: datetime | None


class LearnedFrom(FrozenModel):
    """A checkpoint of a flywheel that was trained on a recording."""

    flywheel: str
    cycle: int
    phase: str
    revision: str
    """The policy revision as which the weights serve; empty where they never did."""


class RecordedSessionOut(FrozenModel):
    """One of a person's recordings. `in_versions` are the dataset versions that have it, as NAME@NUMBER."""

    id: UUID
    pool: str
    task_key: str
    instruction: str
    """Empty until it came in."""
    computer: str
    size: int
    state: RecordedSessionState
    error: str
    steps: int
    created_at: datetime
    withdrawn_at: datetime | None
    deleted_at: datetime | None
    review: Literal["pending", "accepted", "returned", "rejected"] | None
    can_delete: bool
    can_withdraw: bool
    learned: tuple[LearnedFrom, ...]
    in_versions: tuple[str, ...]


class RecorderPage(FrozenModel):
    """What a person's page of the recorder shows."""

    computers: tuple[ComputerOut, ...]
    recordings: tuple[RecordedSessionOut, ...]
    pools: tuple[str, ...]
    """Names of the pools that take their recordings."""
    terms: tuple[TermsToAgree, ...]
