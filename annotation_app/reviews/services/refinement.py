"""Having a registered model write texts of recorded sessions' thoughts; of a refinement reviewers accept sentences."""

from uuid import UUID

from django.db import IntegrityError, transaction

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.episodes.selectors import episode_of
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.reviews.models import WRITING_KINDS, EditKind, Job, JobKind
from annotation_app.reviews.selectors.refinement import WRITERS, last_refinement, refining_model, withdrawal_check
from annotation_app.reviews.selectors.speech import head_revision, recorded_session
from annotation_app.reviews.services.access import correctable_episode
from annotation_app.reviews.services.thoughts import revision_add
from annotation_app.reviews.speech_schemas import AcceptedSentences
from protocol.trajectory.speech import RefinedThought, SpeechRecord, Thoughts, thought_text, write_thought


def writing_request(*, user: User, episode_id: UUID, kind: str, policy_id: int) -> Job:
    """Note that a model is to write of a session's thoughts: a refinement, or variants of a kind. Raises NotFound,
    Forbidden, and Conflict where it does."""
    role_check(user, *WRITERS)
    episode = episode_of(user=user, episode_id=episode_id)
    recorded_session(episode_id)
    withdrawal_check(episode)
    policy = refining_model(policy_id)
    job_kind = JobKind(kind)
    assert job_kind in WRITING_KINDS
    try:
        with transaction.atomic(durable=True):
            job = Job.objects.create(kind=job_kind, episode=episode, policy=policy, requested_by=user)
            verb: Verb = "refinement.started" if job_kind == JobKind.REFINEMENT else "variants.started"
            details = {"policy": str(policy), "kind": kind}
            audit_record(actor=user, verb=verb, subject=f"episode:{episode_id}", details=details)
    except IntegrityError:
        raise Conflict("A model is at it already.", code="under_way") from None
    return job


@transaction.atomic(durable=True)
def refinement_accept(*, user: User, episode_id: UUID, base: int, accepted: tuple[AcceptedSentences, ...]) -> None:
    """Let thoughts say the accepted sentences, as a new revision. Raises NotFound, Forbidden, Invalid, and Conflict
    where a thought does not say any more what was refined."""
    episode = correctable_episode(user=user, episode_id=episode_id)
    _, speech = recorded_session(episode_id)
    head = head_revision(episode, user)
    job = last_refinement(episode, user)
    if job is None:
        raise NotFound("Nothing was refined.")
    if base != (0 if head is None else head.number):
        raise Conflict("Another person has changed the thoughts; reload the page.", code="thoughts_conflict")
    thoughts = speech.thoughts if head is None else head.thoughts
    refined = {one.thought: one for one in job.refined or ()}
    for one in accepted:
        thoughts = _take(speech, thoughts, one, refined.get(one.thought))
    first = accepted[0].thought
    revision_add(user=user, episode=episode, kind=EditKind.REFINE, thought=first, thoughts=thoughts)


def _take(
    speech: SpeechRecord, thoughts: Thoughts, accepted: AcceptedSentences, refined: RefinedThought | None
) -> Thoughts:
    if refined is None or accepted.thought >= len(thoughts):
        raise NotFound("There is no such thought.")
    if thought_text(speech.words, thoughts[accepted.thought]) != refined.original:
        raise Conflict("The thought was changed since.", code="thoughts_conflict")
    if any(place >= len(refined.sentences) for place in accepted.sentences):
        raise Invalid("There is no such sentence.", code="bad_thought")
    text = " ".join(refined.sentences[place].text for place in sorted(set(accepted.sentences)))
    return write_thought(thoughts, accepted.thought, text)
