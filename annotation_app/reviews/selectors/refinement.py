"""How the refinement of a session's thoughts stands."""

from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episode_of
from annotation_app.policies.models import PolicyRevision, Provider
from annotation_app.reviews.models import Job, JobKind
from annotation_app.reviews.selectors.details import job_out
from annotation_app.reviews.selectors.opinions import is_blind
from annotation_app.reviews.selectors.speech import recorded_session
from annotation_app.reviews.speech_schemas import RefinementOut, RefiningModel


def last_refinement(episode: Episode, user: User) -> Job | None:
    """The last one that this person may see: blind, only their own, for it began with what its requester had
    written."""
    found = Job.objects.select_related("policy").filter(episode=episode, kind=JobKind.REFINEMENT)
    if is_blind(user, episode):
        found = found.filter(requested_by=user)
    return found.first()


def refining_models() -> QuerySet[PolicyRevision]:
    """The revisions that can refine, the newest first: those of an OpenAI-compatible server."""
    return PolicyRevision.objects.filter(provider=Provider.OPENAI_COMPATIBLE, scripted=False, retired_at__isnull=True)


def refinement_out(*, user: User, episode_id: UUID) -> RefinementOut:
    """The last refinement of a session. Raises NotFound and Forbidden."""
    episode = episode_of(user=user, episode_id=episode_id)
    role_check(user, Role.REVIEWER, Role.RESEARCHER, Role.ADMIN)
    recorded_session(episode_id)
    job = last_refinement(episode, user)
    return RefinementOut(
        job=None if job is None else job_out(job),
        policy=None if job is None else job.policy_id,
        models=tuple(RefiningModel(id=row.pk, label=str(row)) for row in refining_models()),
        thoughts=() if job is None else job.refined or (),
    )
