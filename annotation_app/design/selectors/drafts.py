"""Reading task drafts, requests for them, and what says the same as a draft."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.db.models import Q, QuerySet

from annotation_app.accounts.models import User
from annotation_app.design.difficulty import level_of
from annotation_app.design.draft_replies import DraftContent, is_level_contradicted, scope_of
from annotation_app.design.draft_schemas import (
    DraftCheck,
    DraftCheckIn,
    DraftFilters,
    DraftMatch,
    DraftNode,
    DraftOut,
    DraftPool,
    DraftRequestOut,
    DraftsOverview,
    DraftsPage,
)
from annotation_app.design.models import DraftRequest, DraftState, Node, TaskDraft, Writer
from annotation_app.design.schemas import WriterOut
from annotation_app.design.selectors import below, design_check, node_of, node_paths
from annotation_app.errors import NotFound
from annotation_app.tasks.models import Pool, Task

PAGE = 50
MAX_COMPARED = 5_000
"""Drafts, and tasks of a pool, that a draft is compared with, the newest."""
MAX_MATCHES = 5


def drafts_overview(*, user: User) -> DraftsOverview:
    """What the page of drafts offers. Raises Forbidden."""
    design_check(user)
    paths, parents = node_paths(), dict(Node.objects.values_list("pk", "parent_id"))
    waiting: Counter[int] = Counter()
    for node_id in TaskDraft.objects.filter(state=DraftState.WAITING).values_list("node_id", flat=True):
        at: int | None = node_id
        while at is not None:
            waiting[at] += 1
            at = parents[at]
    return DraftsOverview(
        nodes=tuple(
            DraftNode(id=key, path=path, waiting=waiting[key])
            for key, path in sorted(paths.items(), key=lambda one: one[1])
        ),
        writers=tuple(WriterOut(id=one.pk, name=str(one)) for one in Writer.objects.all()),
        pools=tuple(
            DraftPool(id=pool.pk, name=pool.name, platform=pool.platform, image=pool.image, max_steps=pool.max_steps)
            for pool in Pool.objects.filter(practice=False)
        ),
    )


def drafts_page(*, user: User, node_id: int, filters: DraftFilters, after: int = 0) -> DraftsPage:
    """Drafts of a node and all below it. Raises Forbidden and NotFound."""
    design_check(user)
    node_of(node_id=node_id)
    found = _filtered(TaskDraft.objects.filter(node__in=below(node_id)), filters)
    rows = list(found.filter(pk__gt=after).select_related("request__writer", "written_by", "task__pool")[: PAGE + 1])
    page = rows[:PAGE]
    matches = draft_matches(page, pool=None)
    newest = DraftRequest.objects.filter(node_id=node_id).select_related("writer").first()
    return DraftsPage(
        items=tuple(_draft_out(draft, matches.get(draft.pk, ())) for draft in page),
        after=page[-1].pk if len(rows) > PAGE else None,
        request=draft_request_out(newest) if newest else None,
    )


def drafts_check(*, user: User, wanted: DraftCheckIn) -> tuple[DraftCheck, ...]:
    """The drafts that say the same as another one of their application or as a task of the pool. Raises Forbidden and
    NotFound."""
    design_check(user)
    pool = pool_of(pool_id=wanted.pool)
    drafts = list(TaskDraft.objects.filter(pk__in=wanted.drafts))
    if len(drafts) < len(set(wanted.drafts)):
        raise NotFound("There is no such draft.", field="drafts")
    return tuple(DraftCheck(draft=key, matches=found) for key, found in draft_matches(drafts, pool=pool).items())


def pool_of(*, pool_id: int) -> Pool:
    """The pool that drafts are to go to. Raises NotFound, also for practice."""
    pool = Pool.objects.filter(pk=pool_id, practice=False).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool")
    return pool


def draft_matches(drafts: Sequence[TaskDraft], *, pool: Pool | None) -> dict[int, tuple[DraftMatch, ...]]:
    """By draft what says the same, the most similar first: drafts of the same application that were not rejected, and
    tasks of the pool. Drafts that nothing matches have no entry."""
    from annotation_app.design.near_duplicates import find_near_duplicates  # with numpy, which no other page needs

    if not drafts:
        return {}
    roots = {path[0] for key, path in node_paths().items() if key in {draft.node_id for draft in drafts}}
    others = _drafts_of(roots)
    tasks = _tasks_of(pool) if pool else []
    known = [DraftMatch(kind="draft", id=key, text=text, similarity=1) for key, text in others]
    known += [DraftMatch(kind="task", id=key, text=text, similarity=1) for key, text in tasks]
    own = {draft.task_id for draft in drafts}
    matches: defaultdict[int, list[DraftMatch]] = defaultdict(list)
    for place, other, similarity in find_near_duplicates(
        [draft.text for draft in drafts], [match.text for match in known]
    ):
        draft, match = drafts[place], known[other]
        if (match.kind, match.id) != ("draft", draft.pk) and not (match.kind == "task" and match.id in own):
            matches[draft.pk].append(match.model_copy(update={"similarity": similarity}))
    return {key: tuple(sorted(found, key=lambda one: -one.similarity)[:MAX_MATCHES]) for key, found in matches.items()}


def draft_request_out(request: DraftRequest) -> DraftRequestOut:
    """A request for drafts and how far it is."""
    return DraftRequestOut(
        id=request.pk,
        writer=str(request.writer),
        status=request.status,
        error=request.error,
        count=request.count,
        cells=len(request.cells),
        cells_done=request.cells_done,
        drafts=request.drafts.count(),
        left_out=request.left_out,
    )


def application_names() -> tuple[str, ...]:
    """The topmost nodes of the graph."""
    return tuple(Node.objects.filter(parent__isnull=True).values_list("name", flat=True))


def content_of(draft: TaskDraft) -> DraftContent:
    """The content of a draft, without its author."""
    return DraftContent(
        text=draft.text,
        expertise=draft.expertise,
        applications=draft.applications,
        persona=draft.persona,
        preconditions=draft.preconditions,
        criteria=draft.criteria,
        rubric=draft.rubric,
    )


def _filtered(found: QuerySet[TaskDraft], filters: DraftFilters) -> QuerySet[TaskDraft]:
    if filters.expertise:
        found = found.filter(expertise=filters.expertise)
    if filters.scope:
        several = Q(applications__len__gt=1)
        found = found.filter(several if filters.scope == "several" else ~several)
    if filters.state:
        found = found.filter(state=filters.state)
    if filters.written_by:
        found = found.filter(request__isnull=filters.written_by == "person")
    return found


def _draft_out(draft: TaskDraft, matches: Iterable[DraftMatch]) -> DraftOut:
    content = content_of(draft)
    return DraftOut(
        id=draft.pk,
        content=content,
        scope=scope_of(draft.applications),
        level=level_of(draft.rubric),
        level_contradicted=is_level_contradicted(content.expertise, content.rubric),
        state=draft.state,
        writer=str(draft.request.writer) if draft.request else "",
        author=str(draft.written_by.name or draft.written_by.username) if draft.written_by else "",
        original=draft.original if draft.original != draft.text else "",
        prompt_sha256=draft.prompt_sha256,
        reason=draft.reason,
        task=draft.task_id,
        pool=draft.task.pool.name if draft.task else "",
        matches=tuple(matches),
    )


def _drafts_of(roots: Collection[str]) -> list[tuple[int, str]]:
    nodes = [key for key, path in node_paths().items() if path[0] in roots]
    found = TaskDraft.objects.filter(node__in=nodes).exclude(state=DraftState.REJECTED).order_by("-pk")
    return list(found.values_list("pk", "text")[:MAX_COMPARED])


def _tasks_of(pool: Pool) -> list[tuple[int, str]]:
    found = Task.objects.filter(pool=pool).exclude(state="withdrawn").order_by("-pk")[:MAX_COMPARED]
    return [(task.pk, task.definition.instruction) for task in found.only("definition")]
