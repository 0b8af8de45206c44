"""Pools over HTTP: the ones people work in, and all that admins do with them."""

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import File, Form, Path, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import Field, StringConstraints

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.errors import TooLarge
from annotation_app.live.mcp_server_trials import ServerTrial
from annotation_app.live.suite_tasks import MachineChoices
from annotation_app.pools import selectors, services
from annotation_app.pools.schemas import (
    Board,
    CredentialName,
    McpServerIn,
    PoolChanges,
    PoolCreate,
    PoolRow,
    PoolTasks,
    SecretApplication,
    SecretHost,
    SecretKind,
    SuiteChoice,
    TaskChanges,
    TaskPage,
    TaskReference,
    TaskRow,
    TaskStateName,
    UploadReport,
)
from annotation_app.pools.task_files import UploadFormat
from annotation_app.tasks.schemas import PoolSummary
from annotation_app.tasks.selectors import pools_of
from annotation_app.tasks.services import (
    consent_give,
    gold_set,
    gold_want,
    task_change,
    tasks_delete,
    tasks_withdraw,
)
from protocol.base import FrozenModel
from protocol.trajectory.mcp_servers import ServerName
from protocol.trajectory.tasks import Task

router = Router(tags=["pools"])
PathId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500, pattern=r"^[^\x00]*$")]


class StopIn(FrozenModel):
    """Why a pool is stopped; its annotators read it."""

    reason: Reason = ""


class StopOut(FrozenModel):
    """How many episodes were stopped."""

    episodes: int


class CredentialIn(FrozenModel):
    """What is typed where an act says `secret:NAME`, and what it is bound to. What is null stays as it is."""

    value: Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"^[^\x00]*$")] | None = None
    kinds: Annotated[tuple[SecretKind, ...], Field(min_length=1)] | None = None
    """Kinds of act that may use it; of a new secret `type_text` alone."""
    hosts: Annotated[tuple[SecretHost, ...], Field(max_length=50)] | None = None
    """Hosts of the page in front where it may be used; none: anywhere."""
    applications: Annotated[tuple[SecretApplication, ...], Field(max_length=50)] | None = None
    """Applications in front in which it may be used; none: in any. Only Linux desktops tell."""
    confirm: bool | None = None
    """Whether a person confirms its use where a policy proposes it. False needs hosts or applications."""


class SuiteIn(SuiteChoice):
    """Which tasks of a suite are wanted; a preview adds none."""

    preview: bool = False


TaskIds = Annotated[tuple[Annotated[int, Field(ge=1, le=2**31 - 1)], ...], Field(min_length=1, max_length=1_000)]


class WithdrawIn(FrozenModel):
    """Tasks of the pool that are no longer given out; False: they are given out again."""

    tasks: TaskIds
    withdrawn: bool = True


class GoldWantIn(FrozenModel):
    """Tasks whose first accepted episode becomes the reference; False: no longer."""

    tasks: TaskIds
    wanted: bool = True


class TasksIn(FrozenModel):
    """Tasks of the pool."""

    tasks: TaskIds


class ChangedOut(FrozenModel):
    """How many tasks changed; the others were so before."""

    tasks: int


class DeletedOut(FrozenModel):
    """The tasks that were deleted, as a file may bring them again, and how many are kept because somebody was given
    them."""

    deleted: tuple[Task, ...]
    in_use: int


class ConsentIn(FrozenModel):
    """The version of the terms that a person read."""

    version: Annotated[int, Field(ge=1, le=2**31 - 1)]


class GoldIn(FrozenModel):
    """The finished episode that shows how a task is done well; None: there is none any more."""

    episode: UUID | None


@router.get("/pools", response=list[PoolSummary], auth=TOKEN_OR_SESSION_AUTH)
def pools_list(request: HttpRequest) -> list[PoolSummary]:
    """The pools this person may see."""
    return pools_of(user=user_of(request))


@router.get("/pools/board", response=Board, auth=TOKEN_OR_SESSION_AUTH)
def pools_board(request: HttpRequest) -> Board:
    """Every pool with its settings and counts, and who works where; for admins."""
    return selectors.board(user=user_of(request))


@router.get("/pools/choices", response=MachineChoices)
def pools_choices(request: HttpRequest) -> MachineChoices:
    """Machine images and suites that the bridge reports, for forms; for admins."""
    return services.choices(user=user_of(request))


@router.get("/pools/definitions", response=PoolTasks, auth=TOKEN_OR_SESSION_AUTH)
def pool_definitions(
    request: HttpRequest,
    pool: Annotated[str, Query(), StringConstraints(max_length=100, pattern=r"^[^\x00]*$")],
    after: Annotated[int, Query(), Field(ge=0, le=2**31 - 1)] = 0,
) -> PoolTasks:
    """The whole tasks of the pool of this name, page after page, for programs that attempt them; for admins."""
    return selectors.task_definitions(user=user_of(request), name=pool, after=after)


@router.post("/pools", response=PoolRow, auth=TOKEN_OR_SESSION_AUTH)
def pool_create(request: HttpRequest, body: PoolCreate) -> PoolRow:
    """Make a pool."""
    user = user_of(request)
    pool = services.pool_create(user=user, settings=body.settings, policy_id=body.policy)
    return selectors.pool_row(user=user, pool_id=pool.pk)


@router.patch("/pools", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def pools_change(request: HttpRequest, body: PoolChanges) -> Status[None]:
    """Change settings of one pool or of several; each is named with the version that was seen."""
    services.pools_change(user=user_of(request), pools=body.pools, changes=body.changes)
    return Status(204, None)


@router.get("/pools/{pool_id}", response=PoolRow, auth=TOKEN_OR_SESSION_AUTH)
def pool_get(request: HttpRequest, pool_id: PathId) -> PoolRow:
    """One pool."""
    return selectors.pool_row(user=user_of(request), pool_id=pool_id)


@router.post("/pools/{pool_id}/stop", response=StopOut)
def pool_stop(request: HttpRequest, pool_id: PathId, body: StopIn) -> StopOut:
    """Stop every running episode of the pool at its next step."""
    return StopOut(episodes=services.pool_stop(user=user_of(request), pool_id=pool_id, reason=body.reason))


@router.delete("/pools/{pool_id}/stop", response={204: None})
def pool_start(request: HttpRequest, pool_id: PathId) -> Status[None]:
    """Restart a stopped pool."""
    services.pool_start(user=user_of(request), pool_id=pool_id)
    return Status(204, None)


@router.get("/pools/{pool_id}/tasks", response=TaskPage, auth=TOKEN_OR_SESSION_AUTH)
def pool_tasks(
    request: HttpRequest,
    pool_id: PathId,
    search: Annotated[str, Query(), StringConstraints(max_length=200, pattern=r"^[^\x00]*$")] = "",
    state: Literal[""] | TaskStateName = "",
    after: Annotated[str, Query(), StringConstraints(max_length=40)] = "",
) -> TaskPage:
    """The pool's tasks in order, page after page."""
    return selectors.tasks_page(user=user_of(request), pool_id=pool_id, search=search, state=state, after=after)


@router.post("/pools/{pool_id}/tasks", response=UploadReport, auth=TOKEN_OR_SESSION_AUTH)
def tasks_upload(
    request: HttpRequest,
    pool_id: PathId,
    file: Annotated[UploadedFile, File()],
    kind: Annotated[UploadFormat, Form()],
    preview: Annotated[bool, Form()] = False,
) -> UploadReport:
    """Add the tasks of a file; where a row is wrong nothing is added, and the answer says why. A preview adds none."""
    if (file.size or 0) > services.MAX_UPLOAD_BYTES:
        raise TooLarge(f"A file of tasks may have {services.MAX_UPLOAD_BYTES} bytes.")
    return services.tasks_upload(user=user_of(request), pool_id=pool_id, data=file.read(), kind=kind, preview=preview)


@router.post("/pools/{pool_id}/suite", response=UploadReport, auth=TOKEN_OR_SESSION_AUTH)
def suite_upload(request: HttpRequest, pool_id: PathId, body: SuiteIn) -> UploadReport:
    """Add the tasks that a suite brings along."""
    return services.suite_upload(user=user_of(request), pool_id=pool_id, choice=body, preview=body.preview)


@router.post("/pools/{pool_id}/people/{person_id}", response={204: None})
def worker_add(request: HttpRequest, pool_id: PathId, person_id: PathId) -> Status[None]:
    """Allow a person to work in the pool."""
    services.worker_set(user=user_of(request), pool_id=pool_id, person_id=person_id, works=True)
    return Status(204, None)


@router.delete("/pools/{pool_id}/people/{person_id}", response={204: None})
def worker_remove(request: HttpRequest, pool_id: PathId, person_id: PathId) -> Status[None]:
    """Withdraw a person's permission to work in the pool. Their open episodes end and are kept."""
    services.worker_set(user=user_of(request), pool_id=pool_id, person_id=person_id, works=False)
    return Status(204, None)


@router.post("/pools/{pool_id}/groups/{group_id}", response={204: None})
def pool_group_add(request: HttpRequest, pool_id: PathId, group_id: PathId) -> Status[None]:
    """Let everybody of a group work in the pool."""
    services.group_set(user=user_of(request), pool_id=pool_id, group_id=group_id, works=True)
    return Status(204, None)


@router.delete("/pools/{pool_id}/groups/{group_id}", response={204: None})
def pool_group_remove(request: HttpRequest, pool_id: PathId, group_id: PathId) -> Status[None]:
    """Let a group work in the pool no longer."""
    services.group_set(user=user_of(request), pool_id=pool_id, group_id=group_id, works=False)
    return Status(204, None)


@router.post("/pools/{pool_id}/credentials/{name}", response={204: None})
def credential_set(
    request: HttpRequest, pool_id: PathId, name: Annotated[CredentialName, Path()], body: CredentialIn
) -> Status[None]:
    """Keep a value that tasks may have typed, or change what it is bound to."""
    rules = body.model_dump(exclude={"value"}, exclude_none=True)
    services.credential_set(user=user_of(request), pool_id=pool_id, name=name, value=body.value, rules=rules)
    return Status(204, None)


@router.delete("/pools/{pool_id}/credentials/{name}", response={204: None})
def credential_remove(request: HttpRequest, pool_id: PathId, name: Annotated[CredentialName, Path()]) -> Status[None]:
    """Forget a value."""
    services.credential_remove(user=user_of(request), pool_id=pool_id, name=name)
    return Status(204, None)


@router.post("/pools/{pool_id}/mcp-servers/{name}", response={204: None})
def mcp_server_set(
    request: HttpRequest, pool_id: PathId, name: Annotated[ServerName, Path()], body: McpServerIn
) -> Status[None]:
    """Add an MCP server that every task of the pool has, or change it; for episodes that begin afterwards."""
    services.mcp_server_set(user=user_of(request), pool_id=pool_id, name=name, server=body.server)
    return Status(204, None)


@router.delete("/pools/{pool_id}/mcp-servers/{name}", response={204: None})
def mcp_server_remove(request: HttpRequest, pool_id: PathId, name: Annotated[ServerName, Path()]) -> Status[None]:
    """Take an MCP server from the pool; episodes that run keep it."""
    services.mcp_server_remove(user=user_of(request), pool_id=pool_id, name=name)
    return Status(204, None)


@router.post("/pools/{pool_id}/mcp-servers/{name}/trial", response=ServerTrial)
def mcp_server_trial(
    request: HttpRequest, pool_id: PathId, name: Annotated[ServerName, Path()], body: McpServerIn
) -> ServerTrial:
    """Start an MCP server on a free machine of the pool and list its tools; nothing is stored."""
    return services.mcp_server_try(user=user_of(request), pool_id=pool_id, name=name, server=body.server)


@router.post("/pools/{pool_id}/consent", response={204: None})
def pool_consent(request: HttpRequest, pool_id: PathId, body: ConsentIn) -> Status[None]:
    """Agree to the pool's terms; for annotators of the pool."""
    consent_give(user=user_of(request), pool_id=pool_id, version=body.version)
    return Status(204, None)


@router.post("/pools/{pool_id}/tasks/withdrawal", response=ChangedOut)
def pool_tasks_withdraw(request: HttpRequest, pool_id: PathId, body: WithdrawIn) -> ChangedOut:
    """Withdraw tasks, or give them out again. Annotators who hold one may finish it."""
    return ChangedOut(
        tasks=tasks_withdraw(user=user_of(request), pool_id=pool_id, task_ids=body.tasks, withdrawn=body.withdrawn)
    )


@router.post("/pools/{pool_id}/tasks/gold", response=ChangedOut)
def pool_tasks_gold(request: HttpRequest, pool_id: PathId, body: GoldWantIn) -> ChangedOut:
    """Mark tasks that are to become gold with their first accepted episode."""
    return ChangedOut(tasks=gold_want(user=user_of(request), pool_id=pool_id, task_ids=body.tasks, wanted=body.wanted))


@router.post("/pools/{pool_id}/tasks/deletion", response=DeletedOut)
def pool_tasks_delete(request: HttpRequest, pool_id: PathId, body: TasksIn) -> DeletedOut:
    """Delete tasks that were never given out; the others are kept."""
    deleted, in_use = tasks_delete(user=user_of(request), pool_id=pool_id, task_ids=body.tasks)
    return DeletedOut(deleted=deleted, in_use=in_use)


@router.patch("/tasks/{task_id}", response=TaskRow)
def task_edit(request: HttpRequest, task_id: PathId, body: TaskChanges) -> TaskRow:
    """Change a task that was never given out; for admins."""
    changes = body.model_dump(exclude_none=True)
    return selectors.task_row(task_change(user=user_of(request), task_id=task_id, changes=changes))


@router.get("/tasks/{task_id}/references", response=list[TaskReference])
def task_references(request: HttpRequest, task_id: PathId) -> list[TaskReference]:
    """The finished episodes of a task, from which its reference is chosen; for admins and reviewers."""
    return list(selectors.task_references(user=user_of(request), task_id=task_id))


@router.post("/tasks/{task_id}/gold", response={204: None})
def task_gold(request: HttpRequest, task_id: PathId, body: GoldIn) -> Status[None]:
    """Say which episode shows how the task is done well; for admins and reviewers."""
    gold_set(user=user_of(request), task_id=task_id, episode_id=body.episode)
    return Status(204, None)
