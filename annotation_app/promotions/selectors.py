"""Queries on the policies of pools."""

from collections.abc import Iterable

from django.db.models import Count, Prefetch, Sum

from annotation_app.accounts.models import Role, User
from annotation_app.errors import NotFound
from annotation_app.natural_order import natural_key
from annotation_app.policies.api_keys import origin_of
from annotation_app.policies.gate import Reason
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.schemas import DialectExample
from annotation_app.policies.selectors import key_hints, policies_reader_check, policy_of, policy_ref
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.schemas import (
    EvaluationSummary,
    GateOutcome,
    PoolPolicies,
    PoolRates,
    RevisionSummary,
    SuiteRate,
)
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Tally
from protocol.actions.types import Click
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.reports import Rate
from protocol.evaluation.statistics import wilson_rate

EXAMPLE_THOUGHT = "The menu File has Save."
EXAMPLE_ACTION, EXAMPLE_SCREEN = Click(x=480, y=270), ScreenSize(width=1920, height=1080)
"""The thought, action and screen of the dialect examples."""


def policies_page(*, user: User) -> tuple[RevisionSummary, ...]:
    """Every revision, newest first, with its pools. Raises Forbidden."""
    policies_reader_check(user)
    found = PolicyRevision.objects.prefetch_related("pools", "tried_in", _evaluations())
    rates, hints = _rates(), key_hints() if user.has_role(Role.ADMIN) else {}
    return tuple(
        RevisionSummary(
            id=revision.pk,
            policy=policy_of(revision),
            base_url=revision.base_url,
            model=revision.model,
            checkpoint=revision.checkpoint,
            weight_version=revision.weight_version,
            sampling=revision.sampling,
            memory=revision.memory,
            prompt=revision.prompt,
            provider=revision.provider,
            provider_settings=revision.provider_settings,
            key_hint=hints.get(origin_of(revision.base_url)),
            created_at=revision.created_at,
            retired=revision.retired_at is not None,
            active_in=tuple(pool.name for pool in revision.pools.all()),
            tried_in=tuple(pool.name for pool in revision.tried_in.all()),
            rates=rates.get(revision.pk, ()),
            evaluations=tuple(map(_summary, revision.evaluations.all())),
        )
        for revision in found
    )


def dialect_prompt(*, user: User, dialect: str) -> PromptTemplate:
    """The default prompt of a dialect. Raises Forbidden and NotFound."""
    policies_reader_check(user)
    try:
        return get_dialect(dialect).template
    except ValueError:
        raise NotFound("There is no such dialect.") from None


def dialect_examples(*, user: User) -> tuple[DialectExample, ...]:
    """The same thought and click in each dialect. Raises Forbidden."""
    policies_reader_check(user)
    return tuple(
        DialectExample(
            name=dialect.name,
            reply=dialect.write(EXAMPLE_THOUGHT, EXAMPLE_ACTION, EXAMPLE_SCREEN),
            absolute=dialect.absolute,
        )
        for dialect in map(get_dialect, list_dialects())
    )


def pools_page(*, user: User) -> tuple[PoolPolicies, ...]:
    """Every pool with its policy, its gate, and the number of open episodes. Raises Forbidden."""
    policies_reader_check(user)
    held = Assignment.objects.filter(state=AssignmentState.ACTIVE).order_by()
    open_episodes = dict(held.values_list("task__pool").annotate(count=Count("pk")))
    return tuple(
        PoolPolicies(
            id=pool.pk,
            name=pool.name,
            active=pool.policy_id,
            canary=pool.canary_id,
            canary_share=pool.canary_share,
            gate=pool.gate,
            sampling=pool.sampling,
            open_episodes=open_episodes.get(pool.pk, 0),
        )
        for pool in sorted(Pool.objects.all(), key=lambda pool: natural_key(pool.name))
    )


def evaluation_summary(evaluation_id: int) -> EvaluationSummary:
    """One report's summary. Raises Evaluation.DoesNotExist."""
    return _summary(Evaluation.objects.prefetch_related(_decisions()).get(pk=evaluation_id))


def _decisions() -> Prefetch[str]:
    return Prefetch("gate_decisions", queryset=GateDecision.objects.select_related("pool", "active"))


def _evaluations() -> Prefetch[str]:
    return Prefetch("evaluations", queryset=Evaluation.objects.prefetch_related(_decisions()))


def _summary(evaluation: Evaluation) -> EvaluationSummary:
    report, decisions = evaluation.document, evaluation.gate_decisions.all()
    return EvaluationSummary(
        id=evaluation.pk,
        sha256=evaluation.sha256,
        created_at=evaluation.created_at,
        attempts=report.attempts,
        suites=tuple(SuiteRate(suite=suite.suite, successes=suite.successes) for suite in report.suites),
        compared=report.comparison.overall.finding if report.comparison else None,
        decisions=tuple(map(_outcome, decisions)),
    )


def _outcome(decision: GateDecision) -> GateOutcome:
    return GateOutcome(
        pool=decision.pool.name,
        passed=decision.passed,
        promoted=decision.promoted,
        against=policy_ref(decision.active),
        reasons=tuple(Reason.model_validate(reason) for reason in decision.reasons),
        created_at=decision.created_at,
    )


def _rates() -> dict[int, tuple[PoolRates, ...]]:
    """Rates of each revision, by pool."""
    columns = ("accepted", "overridden", "succeeded", "failed")
    sums: Iterable[tuple[int, str, int, int, int, int]] = (
        Tally.objects.values_list("revision_id", "pool__name")
        .annotate(*(Sum(column) for column in columns))
        .order_by("pool_id")
    )
    found: dict[int, tuple[PoolRates, ...]] = {}
    for revision, pool, accepted, overridden, succeeded, failed in sums:
        rates = PoolRates(pool=pool, accepted=_rate(accepted, overridden), succeeded=_rate(succeeded, failed))
        found[revision] = (*found.get(revision, ()), rates)
    return found


def _rate(good: int, bad: int) -> Rate | None:
    return wilson_rate(good, good + bad) if good + bad else None
