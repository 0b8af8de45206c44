"""Variants of the thoughts of recorded sessions: stored as a model wrote them, and chosen or rejected by reviewers."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.reviews.models import Job, JobState, ThoughtVariant, VariantStatus
from annotation_app.reviews.selectors.speech import recorded_session, thoughts_of
from annotation_app.reviews.selectors.variants import PlannedThought, place_of
from annotation_app.reviews.services.access import correctable_episode
from annotation_app.reviews.speech_schemas import VariantDecision
from protocol.trajectory.speech import RefinedText, SpeechRecord


@transaction.atomic(durable=True)
def variants_store(
    *, job_id: UUID, thought: PlannedThought, texts: Iterable[tuple[RefinedText, ...]], problem: str, after: int
) -> bool:
    """Store what a model wrote of one thought, numbered from `after` + 1; nothing but `problem` where it abstained.
    Whether to go on: nothing is stored for a job that was cancelled."""
    running = Job.objects.select_for_update().filter(pk=job_id, status=JobState.RUNNING).first()
    if running is None or running.episode_id is None or running.policy_id is None:
        return False
    common = {
        "episode_id": running.episode_id,
        "kind": running.kind,
        "first_word": thought.words[0],
        "last_word": thought.words[1],
        "step": thought.step,
        "original": thought.text,
        "policy_id": running.policy_id,
        "prompt_sha256": running.prompt_sha256,
        "requested_by_id": running.requested_by_id,
    }
    rows = [
        ThoughtVariant(**common, index=number, sentences=sentences)
        for number, sentences in enumerate(texts, start=after + 1)
    ]
    if not rows:
        rows = [
            ThoughtVariant(**common, index=after + 1, sentences=(), problem=problem, status=VariantStatus.ABSTAINED)
        ]
    ThoughtVariant.objects.bulk_create(rows)
    return True


@transaction.atomic(durable=True)
def variants_decide(*, user: User, episode_id: UUID, decisions: tuple[VariantDecision, ...]) -> None:
    """Choose variants for exports, reject them, or take that back. Raises NotFound, Forbidden, Invalid, and Conflict
    where a thought does not say any more what a variant was written of."""
    episode = correctable_episode(user=user, episode_id=episode_id)
    recorded_session(episode_id)
    speech, thoughts = thoughts_of(episode, user) or (SpeechRecord(), ())
    rows = {row.pk: row for row in episode.thought_variants.select_related("policy").select_for_update(of=("self",))}
    for decision in decisions:
        row = rows.get(decision.variant)
        if row is None or row.status == VariantStatus.ABSTAINED:
            raise NotFound("There is no such variant.")
        if place_of(row.value, speech, thoughts) is None:
            raise Conflict("The thought was changed since.", code="thoughts_conflict")
        left = set(range(len(row.sentences))) - set(decision.dropped)
        if not left or any(place >= len(row.sentences) for place in decision.dropped):
            raise Invalid("A variant keeps at least one of its sentences.", code="bad_variant")
        is_open = decision.status == "proposed"
        row.status, row.dropped = VariantStatus(decision.status), tuple(sorted(set(decision.dropped)))
        row.decided_by, row.decided_at = (None, None) if is_open else (user, timezone.now())
        row.save(update_fields=["status", "dropped", "decided_by", "decided_at"])
