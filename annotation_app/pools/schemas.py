"""Schemas of pools, for admins."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from annotation_app.live.missing_suites import MissingSuite
from annotation_app.pools.task_files import RowFault
from annotation_app.tasks.active_hours import ActiveHours
from protocol.base import FrozenModel
from protocol.trajectory.mcp_servers import AnyMcpServer, McpServer, RemoteMcpServer
from protocol.trajectory.observations import Platform
from protocol.trajectory.tasks import HostPattern, Language, ScreenSize, Task

Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
]
Prose = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
Percent = Annotated[int, Field(ge=0, le=100)]
Skill = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=r"^[\w.+-]{1,32}$")]
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]
CredentialName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]


SecretKind = Literal[
    "type_text",
    "set_clipboard",
    "type_terminal",
    "run_command",
    "run_code",
    "write_file",
    "edit_file",
    "call_tool",
    "navigate",
    "mcp_server",
]
"""Kinds of act that can be allowed to use a secret, and `mcp_server`: the environments and headers of MCP servers."""
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
SecretHost = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        to_lower=True,
        max_length=255,
        pattern=rf"^(\*\.)?{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?$",
    ),
]
"""`host` or `host:port`, with `*.` in front for all names below; the port only where it is not the scheme's own."""


SecretApplication = Annotated[
    str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,200}$", strip_whitespace=True, to_lower=True)
]
"""As a machine names what is in front; on Linux the class of its window."""


class CredentialRule(FrozenModel):
    """What a secret is bound to."""

    name: str
    kinds: tuple[SecretKind, ...]
    hosts: tuple[str, ...]
    applications: tuple[str, ...]
    confirm: bool


def _once(skills: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(skills)))


class PoolSettings(FrozenModel):
    """All that an admin sets of a pool; who proposes in it is set where policies are looked after."""

    name: Line
    description: Prose = ""
    instructions: Prose = ""
    platform: Platform = "desktop"
    image: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = "desktop"
    candidates: Annotated[int, Field(ge=1, le=16)] = 3
    max_steps: Annotated[int, Field(ge=1, le=1_000)] = 100
    minutes: Annotated[int, Field(ge=1, le=10_000)] | None = None
    thought_required: bool = True
    thought_later: bool = False
    """Whether a required thought may be written after its step."""
    text_continuation: bool = False
    """Whether the policy continues thoughts: what an annotator is writing is then sent to its server."""
    policy_budget: Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)] | None = None
    """US dollars that hosted models may cost in it."""
    unattended_safety_checks: bool = False
    screenshot_format: Literal["jpeg", "png"] = "jpeg"
    record: bool = True
    """Whether a video of every episode is kept, until a retention rule for recordings deletes it."""
    speculation: bool = False
    """Whether a second machine of an episode does the first candidate ahead of the person."""
    takes_recordings: bool = False
    """Whether its people may upload what they recorded on their own computers."""
    practice: bool = False
    paused: bool = False
    lease_minutes: Annotated[int, Field(ge=1, le=10_000)] = 30
    pause_hours: Annotated[int, Field(ge=1, le=1_000)] = 8
    overlap: Annotated[int, Field(ge=1, le=20)] = 1
    gold_percent: Percent = 0
    review_mode: Literal["none", "sample", "all"] = "all"
    review_percent: Percent = 10
    reviewers: Annotated[int, Field(ge=1, le=2)] = 1
    priority: Annotated[int, Field(ge=-1_000, le=1_000)] = 0
    hours: ActiveHours | None = None
    consent: Prose = ""
    open_to_all: bool = False
    skills: Annotated[tuple[Skill, ...], Field(max_length=20), AfterValidator(_once)] = ()


class SuiteChoice(FrozenModel):
    """Tasks of a suite: all of them, or those named, once for each seed."""

    suite: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
    tasks: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=1_000)
    ] = ()
    """Names of the tasks; none: all that have the level and the size."""
    level: Annotated[int, Field(ge=1, le=100)] = 1
    first_seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    seeds: Annotated[int, Field(ge=1, le=100)] = 1
    language: Language = "en"
    size: ScreenSize | None = None
    """The screen's, where the suite lets it be chosen (pixels)."""


class PoolCreate(FrozenModel):
    """A new pool, and which revision proposes in it, if any."""

    settings: PoolSettings
    policy: RowId | None = None


class PoolRef(FrozenModel):
    """A pool in the state that a person saw."""

    id: RowId
    version: Annotated[int, Field(ge=1)]


class PoolChanges(FrozenModel):
    """Settings that are to be others, by name; the rest stays."""

    pools: Annotated[tuple[PoolRef, ...], Field(min_length=1, max_length=200)]
    changes: dict[str, Any]


class TaskCounts(FrozenModel):
    """The tasks of a pool by state; `gold` of them have a known answer."""

    waiting: int = 0
    claimed: int = 0
    done: int = 0
    broken: int = 0
    withdrawn: int = 0
    gold: int = 0


class StdioServer(McpServer):
    """A program inside the machine."""

    transport: Literal["stdio"]


class HttpServer(RemoteMcpServer):
    """An address that the machine reaches over streamable HTTP."""

    transport: Literal["http"]


class McpServerIn(FrozenModel):
    """An MCP server. Values of its environment or headers may have `secret:NAME` of the pool's secrets in them."""

    server: Annotated[StdioServer | HttpServer, Field(discriminator="transport")]

    @classmethod
    def of(cls, server: AnyMcpServer) -> "StdioServer | HttpServer":
        """A stored server with its transport."""
        fields = server.model_dump()
        if isinstance(server, McpServer):
            return StdioServer(transport="stdio", **fields)
        return HttpServer(transport="http", **fields)


class PoolMcpServer(McpServerIn):
    """An MCP server that every task of a pool has; for admins."""

    name: str


class PoolRow(FrozenModel):
    """A pool as admins see it. `version` is named by who changes it."""

    id: int
    version: int
    settings: PoolSettings
    policy: str
    tasks: TaskCounts
    open_episodes: int
    policy_spent: float
    """US dollars that hosted models have cost in it, with what is set aside for requests that are out."""
    stopped_at: datetime | None
    stop_reason: str
    opens_at: datetime | None
    credentials: tuple[str, ...]
    """Names of the secrets."""
    credential_rules: tuple[CredentialRule, ...]
    mcp_servers: tuple[PoolMcpServer, ...]
    members: tuple[int, ...]
    groups: tuple[int, ...]


class Worker(FrozenModel):
    """A person who can be given tasks."""

    id: int
    username: str
    name: str
    skills: tuple[str, ...]
    groups: tuple[int, ...]


class GroupRow(FrozenModel):
    """People who are assigned together."""

    id: int
    name: str
    size: int


class Board(FrozenModel):
    """Who works where: pools, people and their groups."""

    pools: tuple[PoolRow, ...]
    people: tuple[Worker, ...]
    groups: tuple[GroupRow, ...]
    missing_suites: tuple[MissingSuite, ...]
    """Suites and tasks that waiting tasks name and this version does not have; looked up once a minute."""


class TaskChanges(FrozenModel):
    """Changes to a task that was never given out; null changes nothing."""

    instruction: (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000, pattern=r"^[^\x00]*$")]
        | None
    ) = None
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    network: Annotated[tuple[HostPattern, ...], Field(max_length=64)] | None = None


class TaskReference(FrozenModel):
    """A finished episode of a task, which may show how it is done well."""

    id: UUID
    annotator: str
    outcome: str
    review: str
    steps: int
    finished_at: datetime | None


TaskStateName = Literal["waiting", "claimed", "done", "broken", "withdrawn"]


class TaskRow(FrozenModel):
    """A task in the list of a pool's tasks."""

    id: int
    key: str
    instruction: str
    state: TaskStateName
    done: int
    gold: bool
    gold_wanted: bool = False
    """Whether its first episode that a reviewer accepts becomes the reference."""
    max_steps: int
    network: tuple[str, ...]
    reference: UUID | None = None
    """The episode that shows how it is done well, of a gold one."""


class TaskPage(FrozenModel):
    """Some tasks in order; `after` asks for the following ones, if any."""

    items: tuple[TaskRow, ...]
    after: str | None


class PoolTasks(FrozenModel):
    """Some tasks of a pool as they are attempted, and the image of its machines; `after` asks for the following ones,
    if any."""

    image: str
    items: tuple[Task, ...]
    after: int | None


class UploadReport(FrozenModel):
    """What is in an upload: `new` tasks, or those the pool `known` already has; with faults nothing was added, nor in a
    preview."""

    added: bool
    new: int
    known: int
    faults: tuple[RowFault, ...]
    first: tuple[TaskRow, ...]
