"""Queries on judges, their runs and their verdicts."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast

from annotation_app.accounts.models import Role, User
from annotation_app.episodes.models import Episode, Review
from annotation_app.errors import Forbidden, NotFound
from annotation_app.judges.models import Judge, Judgement, PoolJudge, Run
from annotation_app.judges.schemas import JudgeOut, JudgeRow, JudgeServer, JudgesPage, PoolName, RunOut, ScoredReport
from annotation_app.natural_order import natural_key
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.models import Evaluation
from annotation_app.policies.selectors import provider_key_of
from annotation_app.tasks.models import Pool
from protocol.evaluation.calibration import Calibration, ScoredOutcome, Sweep, calibrate, sweep_thresholds
from protocol.evaluation.judgements import VERIFIER, JudgeRef, JudgeSettings

CSV_HEAD = (
    *("pool", "judge", "revision", "kind", "scripted", "without_score", "threshold", "chosen"),
    *("true_positives", "false_positives", "true_negatives", "false_negatives"),
    *("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"),
    *("false_positive_rate", "false_positive_rate_low", "false_positive_rate_high", "f1"),
)

LABELS = ("success", "failure")
"""What annotators say of an episode that a judge can be held against."""
UNSCORED = '"judge":""'
"""What is in the text of a report that no judge scored."""
MAX_REPORTS = 100
UNTRUSTED_REVIEWS = (Review.RETURNED, Review.REJECTED)


def judges_admin_check(user: User) -> None:
    """Raises Forbidden for anybody but admins."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Only admins see to judges.")


def judge_ref(judge: Judge) -> JudgeRef:
    """A judge as its judgements name it."""
    return JudgeRef(kind=judge.kind, name=judge.name, revision=judge.revision, scripted=judge.scripted)


def judge_server(judge: Judge) -> JudgeServer:
    """Where and how a judge is asked. Raises ValueError for settings that make no sense."""
    return JudgeServer(
        ref=judge_ref(judge),
        base_url=judge.base_url,
        model=judge.model,
        settings=JudgeSettings.model_validate(judge.settings),
    )


def judge_api_key(server: JudgeServer) -> str:
    """The key that was entered for a judge's server, else the one of the settings where it belongs there."""
    if server.ref.scripted:
        return ""
    return provider_key_of(server.base_url) or api_key_for(server.base_url)


def judges_page(*, user: User) -> JudgesPage:
    """The page. Raises Forbidden."""
    judges_admin_check(user)
    assigned = PoolJudge.objects.select_related("pool", "judge")
    return JudgesPage(
        judges=tuple(map(judge_out, Judge.objects.all())),
        pools=tuple(
            PoolName(id=pool.pk, name=pool.name)
            for pool in sorted(Pool.objects.filter(practice=False), key=lambda pool: natural_key(pool.name))
        ),
        rows=tuple(map(_row, assigned)),
        reports=_scored_reports(),
    )


def judge_named(text: str) -> Judge | None:
    """The judge of this installation that a report names, as `NAME REVISION from THRESHOLD`; None where it is of
    elsewhere, or the report names none."""
    named, found, _ = text.rpartition(" from ")
    return next((judge for judge in Judge.objects.all() if found and str(judge) == named), None)


def _scored_reports() -> tuple[ScoredReport, ...]:
    """The newest registered reports in which a judge decided how some attempts ended."""
    texts = Evaluation.objects.annotate(text=Cast("document", TextField()))
    scored = texts.exclude(text__contains=UNSCORED).select_related("revision").order_by("-id")
    return tuple(
        ScoredReport(
            id=report.pk,
            policy=str(report.revision),
            judge=report.document.judge,
            judged=report.document.judged,
            attempts=report.document.attempts,
            created_at=report.created_at,
        )
        for report in scored[:MAX_REPORTS]
        if report.document.judge
    )


def sweep(*, user: User, pool_id: int, judge_id: int) -> Sweep:
    """A pool's judge against people at every threshold. Raises Forbidden and NotFound."""
    judges_admin_check(user)
    return _sweep(pool_judge_of(pool_id=pool_id, judge_id=judge_id))


def pool_judge_of(*, pool_id: int, judge_id: int) -> PoolJudge:
    """A judge in a pool. Raises NotFound."""
    found = PoolJudge.objects.select_related("pool", "judge").filter(pool_id=pool_id, judge_id=judge_id).first()
    if found is None:
        raise NotFound("This judge does not judge in this pool.", field="judge_id")
    return found


def calibrations_table(*, user: User) -> Iterator[tuple[object, ...]]:
    """Every judge in every pool at every threshold, with a head, for a spreadsheet. Raises Forbidden."""
    judges_admin_check(user)
    return _table()


def run_out(run: Run) -> RunOut:
    """A run as it is shown."""
    return RunOut.model_validate({name: getattr(run, name) for name in RunOut.model_fields})


def episodes_waiting(
    *, pool_id: int, judge_id: int, labelled_only: bool = False, most: int | None = None
) -> tuple[UUID, ...]:
    """The finished episodes of a pool that a judge has not judged, oldest first; with `most` the newest of them."""
    judgements = Judgement.objects.filter(episode=OuterRef("pk"), judge_id=judge_id)
    found = Episode.objects.filter(~Exists(judgements), task__pool_id=pool_id, status="finished")
    if labelled_only:
        found = found.filter(outcome__in=LABELS).exclude(review__in=UNTRUSTED_REVIEWS)
    newest_first = found.order_by("-created_at", "-id").values_list("pk", flat=True)[:most]
    return tuple(reversed(newest_first))


def judge_out(judge: Judge) -> JudgeOut:
    """A judge as it is shown."""
    server = judge_server(judge)
    return JudgeOut(
        id=judge.pk,
        ref=server.ref,
        model=server.model,
        settings=server.settings,
        created_at=judge.created_at,
        used=judge.kind == VERIFIER.kind or judge_is_used(judge),
    )


def judge_is_used(judge: Judge) -> bool:
    """Whether it judges in a pool, or has judged or begun to."""
    return judge.pools.exists() or judge.judgements.exists() or judge.runs.exists()


def _row(assigned: PoolJudge) -> JudgeRow:
    pool, judge = assigned.pool, assigned.judge
    pairs = _pairs(assigned)
    found = _sweep(assigned, pairs)
    judged = Judgement.objects.filter(judge=judge, episode__task__pool=pool).aggregate(
        all=Count("pk"), unsaid=Count("pk", filter=Q(score=None))
    )
    run = Run.objects.filter(pool=pool, judge=judge).first()
    return JudgeRow(
        pool=PoolName(id=pool.pk, name=pool.name),
        judge=judge_out(judge),
        threshold=assigned.threshold,
        finished=Episode.objects.filter(task__pool=pool, status="finished").count(),
        judged=judged["all"],
        unsaid=judged["unsaid"],
        counted=found.counted,
        at_threshold=calibrate(pairs, assigned.threshold) if found.points else None,
        best=found.best,
        run=None if run is None else run_out(run),
    )


def _pairs(assigned: PoolJudge) -> list[ScoredOutcome]:
    """The scores on what annotators called done or not, but for what a reviewer sent back or rejected."""
    found = Judgement.objects.filter(
        judge=assigned.judge, episode__task__pool=assigned.pool, episode__outcome__in=LABELS
    ).exclude(episode__review__in=UNTRUSTED_REVIEWS)
    return [(score, outcome == "success") for score, outcome in found.values_list("score", "episode__outcome")]


def _sweep(assigned: PoolJudge, pairs: list[ScoredOutcome] | None = None) -> Sweep:
    found = _pairs(assigned) if pairs is None else pairs
    return sweep_thresholds(judge_ref(assigned.judge), found, also=(assigned.threshold,))


def _table() -> Iterator[tuple[object, ...]]:
    yield CSV_HEAD
    for assigned in PoolJudge.objects.select_related("pool", "judge"):
        found = _sweep(assigned)
        for point in found.points:
            yield (*_whose(assigned, found, point), *_figures(point))


def _whose(assigned: PoolJudge, found: Sweep, point: Calibration) -> tuple[object, ...]:
    ref, counted = found.judge, found.counted
    silent = counted.unsaid_successes + counted.unsaid_failures
    chosen = point.threshold == assigned.threshold
    return (assigned.pool.name, ref.name, ref.revision, ref.kind, ref.scripted, silent, point.threshold, chosen)


def _figures(point: Calibration) -> tuple[object, ...]:
    rates = (point.precision, point.recall, point.false_positive_rate)
    shares = [value for rate in rates for value in ((rate.rate, rate.low, rate.high) if rate else (None,) * 3)]
    counts = (point.true_positives, point.false_positives, point.true_negatives, point.false_negatives)
    return (*counts, *shares, point.f1)
