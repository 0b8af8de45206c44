"""Variants of the thoughts of recorded sessions: what is to be written, and what there is."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from uuid import UUID

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episode_of
from annotation_app.reviews.models import ThoughtVariant, VariantStatus
from annotation_app.reviews.selectors.details import job_out
from annotation_app.reviews.selectors.opinions import is_blind
from annotation_app.reviews.selectors.refinement import WRITERS, models_out, session_thoughts, writing_jobs
from annotation_app.reviews.selectors.speech import recorded_session, thoughts_of
from annotation_app.reviews.speech_schemas import VariantJobOut, VariantOut, VariantsOut
from protocol.trajectory.speech import SpeechRecord, Thoughts, step_of_thought, thought_text
from protocol.trajectory.trajectories import Trajectory
from protocol.trajectory.variants import ThoughtVariant as VariantValue
from protocol.trajectory.variants import VariantKind, belongs

VARIANT_KINDS: tuple[VariantKind, ...] = get_args(VariantKind)


@dataclass(frozen=True)
class PlannedThought:
    """A thought of which variants are wanted: its words, the step whose thought holds it, and what it says."""

    words: tuple[int, int]
    step: int
    text: str


@dataclass(frozen=True)
class VariantPlan:
    """What a worker writes, and with which model. `known` thoughts have variants of this model, or it abstained;
    `written` says how many variants of any model each thought has."""

    kind: VariantKind
    base_url: str
    model: str
    trajectory: Trajectory
    thoughts: tuple[PlannedThought, ...]
    known: frozenset[PlannedThought]
    written: Mapping[PlannedThought, int]


def variant_plan(job_id: UUID, prompts: Mapping[VariantKind, str]) -> VariantPlan:
    """The plan of a job. What the same model wrote before, asked with the same prompt, of thoughts that are as they
    were then, is not wanted again. Raises NotFound."""
    found = session_thoughts(job_id)
    count = len(found.trajectory.steps)
    thoughts = tuple(
        PlannedThought(one.words, step, text)
        for one in found.thoughts
        if one.steps and (step := step_of_thought(one)) is not None and step < count
        if (text := thought_text(found.speech.words, one)).strip()
    )
    kind = next(one for one in VARIANT_KINDS if one == found.job.kind)
    known: set[PlannedThought] = set()
    written: defaultdict[PlannedThought, int] = defaultdict(int)
    for row in ThoughtVariant.objects.filter(episode=found.job.episode, kind=kind):
        thought = PlannedThought((row.first_word, row.last_word), row.step, row.original)
        written[thought] = max(written[thought], row.index)
        if row.policy_id == found.job.policy_id and row.prompt_sha256 == prompts[kind]:
            known.add(thought)
    return VariantPlan(kind, found.base_url, found.model, found.trajectory, thoughts, frozenset(known), dict(written))


def variants_out(*, user: User, episode_id: UUID) -> VariantsOut:
    """The variants of a session's thoughts as this person sees the thoughts. Raises NotFound and Forbidden."""
    episode = episode_of(user=user, episode_id=episode_id)
    role_check(user, *WRITERS)
    recorded_session(episode_id)
    jobs = {kind: writing_jobs(episode, user, kind).first() for kind in VARIANT_KINDS}
    return VariantsOut(
        jobs=tuple(
            VariantJobOut(kind=kind, policy=job.policy_id, job=job_out(job)) for kind, job in jobs.items() if job
        ),
        models=models_out(),
        variants=_shown(episode, user),
    )


def _shown(episode: Episode, user: User) -> tuple[VariantOut, ...]:
    """Those of thoughts that say what this person sees; blind, without what the other reviewer made of them."""
    speech, thoughts = thoughts_of(episode, user) or (SpeechRecord(), ())
    rows = episode.thought_variants.select_related("policy", "decided_by")
    hidden = _undecided_since(episode) if is_blind(user, episode) else None
    shown = []
    for row in rows:
        place = place_of(row.value, speech, thoughts)
        if place is None:
            continue
        is_hidden = hidden is not None and row.decided_by_id != user.pk and row.decided_at and row.decided_at > hidden
        decided = row.status in (VariantStatus.CHOSEN, VariantStatus.REJECTED)
        shown.append(
            VariantOut(
                id=row.pk,
                kind=row.kind,
                index=row.index,
                thought=place,
                sentences=row.sentences,
                dropped=() if is_hidden else row.dropped,
                status="proposed" if is_hidden and decided else row.status,
                problem=row.problem,
                model=str(row.policy),
                prompt_sha256=row.prompt_sha256,
                created_at=row.created_at,
                decided_by="" if is_hidden or row.decided_by is None else row.decided_by.name,
            )
        )
    return tuple(shown)


def _undecided_since(episode: Episode) -> datetime:
    """When the present round began."""
    last = episode.rounds.last()
    return episode.created_at if last is None else last.decided_at


def place_of(variant: VariantValue, speech: SpeechRecord, thoughts: Thoughts) -> int | None:
    """Which of these thoughts a variant belongs to; None: none says any more what it was written of."""
    return next((place for place, one in enumerate(thoughts) if belongs(variant, speech.words, one)), None)
