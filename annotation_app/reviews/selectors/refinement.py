"""How the refinement of a session's thoughts stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episode_of
from annotation_app.errors import NotFound
from annotation_app.policies.models import PolicyRevision, Provider
from annotation_app.reviews.models import Job, JobKind
from annotation_app.reviews.selectors.details import job_out
from annotation_app.reviews.selectors.opinions import is_blind
from annotation_app.reviews.selectors.speech import recorded_session, thoughts_of
from annotation_app.reviews.speech_schemas import RefinementOut, RefiningModel
from protocol.trajectory.speech import RefinedThought, SpeechRecord, thought_text
from protocol.trajectory.trajectories import Trajectory


def last_refinement(episode: Episode, user: User) -> Job | None:
    """The last one that this person may see: blind, only their own, for it began with what its requester had
    written."""
    found = Job.objects.select_related("policy").filter(episode=episode, kind=JobKind.REFINEMENT)
    if is_blind(user, episode):
        found = found.filter(requested_by=user)
    return found.first()


@dataclass(frozen=True)
class RefinementPlan:
    """What a worker refines and with which model: `texts` of thoughts by their place, the step that each is about
    (`steps`), and what is refined already."""

    base_url: str
    model: str
    trajectory: Trajectory
    texts: Mapping[int, str]
    steps: Mapping[int, int]
    refined: Mapping[int, RefinedThought]


def refinement_plan(job_id: UUID) -> RefinementPlan:
    """The plan of a refinement, of the thoughts as its requester sees them. Raises NotFound."""
    job = Job.objects.select_related("policy", "requested_by", "episode__task__pool").get(pk=job_id)
    if job.episode is None or job.policy is None:
        raise NotFound("This is no refinement.")
    trajectory, _ = recorded_session(job.episode.pk)
    speech, thoughts = thoughts_of(job.episode, job.requested_by) or (SpeechRecord(), ())
    about = {place: one for place, one in enumerate(thoughts) if one.steps}
    texts = {place: thought_text(speech.words, one) for place, one in about.items()}
    return RefinementPlan(
        base_url=job.policy.base_url,
        model=job.policy.model,
        trajectory=trajectory,
        texts=texts,
        steps={place: min(one.steps[0], len(trajectory.steps) - 1) for place, one in about.items()},
        refined={one.thought: one for one in job.refined or () if texts.get(one.thought) == one.original},
    )


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
