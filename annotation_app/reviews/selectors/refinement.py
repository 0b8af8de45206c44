"""The state of the refinement of a session's thoughts, and the thoughts that a model shall refine."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode, Withdrawal
from annotation_app.episodes.selectors import episode_of
from annotation_app.errors import Conflict, NotFound
from annotation_app.policies.models import PolicyRevision, Provider
from annotation_app.reviews.models import Job, JobKind
from annotation_app.reviews.selectors.details import job_out
from annotation_app.reviews.selectors.opinions import is_blind
from annotation_app.reviews.selectors.speech import recorded_session, thoughts_of
from annotation_app.reviews.speech_schemas import RefinementOut, RefiningModel
from protocol.trajectory.speech import RefinedThought, SpeechRecord, Thoughts, thought_text
from protocol.trajectory.trajectories import Trajectory

WRITERS = (Role.REVIEWER, Role.RESEARCHER, Role.ADMIN)
"""Who may have a model write texts of people's thoughts."""


def writing_jobs(episode: Episode, user: User, kind: str) -> QuerySet[Job]:
    """The jobs of a kind that this person may see, the newest first. Blind: their own, and those that had ended before
    another reviewer changed the thoughts in this round."""
    found = Job.objects.select_related("policy").filter(episode=episode, kind=kind)
    if is_blind(user, episode):
        others = episode.thought_revisions.filter(round__gt=episode.rounds.count()).exclude(author=user)
        first = others.order_by("created_at").values_list("created_at", flat=True).first()
        if first is not None:
            found = found.filter(Q(requested_by=user) | Q(finished_at__lt=first))
    return found


def last_refinement(episode: Episode, user: User) -> Job | None:
    """The last one that this person may see."""
    return writing_jobs(episode, user, JobKind.REFINEMENT).first()


def writing_job(job_id: UUID) -> Job:
    """A job in which a model writes. Raises NotFound."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def withdrawal_check(episode: Episode) -> None:
    """Raises Conflict where consent to a recording was withdrawn: no model reads it any more."""
    if Withdrawal.objects.filter(episode=episode).exists():
        raise Conflict("Consent to this recording was withdrawn.", code="recording_withdrawn")


@dataclass(frozen=True)
class SessionThoughts:
    """A job in which a model writes: the job, its session, and the thoughts as who asked for it sees them."""

    job: Job
    base_url: str
    model: str
    trajectory: Trajectory
    speech: SpeechRecord
    thoughts: Thoughts


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


def session_thoughts(job_id: UUID) -> SessionThoughts:
    """What a writing job is about. Raises NotFound, and Conflict where consent to the recording was withdrawn."""
    job = Job.objects.select_related("policy", "requested_by", "episode__task__pool").get(pk=job_id)
    if job.episode is None or job.policy is None:
        raise NotFound("No model writes in this job.")
    withdrawal_check(job.episode)
    trajectory, _ = recorded_session(job.episode.pk)
    speech, thoughts = thoughts_of(job.episode, job.requested_by) or (SpeechRecord(), ())
    return SessionThoughts(job, job.policy.base_url, job.policy.model, trajectory, speech, thoughts)


def refinement_plan(job_id: UUID, prompt_sha256: str) -> RefinementPlan:
    """The plan of a refinement. What this model refined before, asked with the same prompt, is taken over where the
    thought still says the same. Raises NotFound."""
    found = session_thoughts(job_id)
    about = {place: one for place, one in enumerate(found.thoughts) if one.steps}
    texts = {place: thought_text(found.speech.words, one) for place, one in about.items()}
    known = _refined_before(found.job, prompt_sha256)
    return RefinementPlan(
        base_url=found.base_url,
        model=found.model,
        trajectory=found.trajectory,
        texts=texts,
        steps={place: min(one.steps[0], len(found.trajectory.steps) - 1) for place, one in about.items()},
        refined=_still_true(texts, known),
    )


def _still_true(texts: Mapping[int, str], known: list[RefinedThought]) -> dict[int, RefinedThought]:
    """For each thought what was refined of it. A thought may have moved; one of several that say the same may not."""
    count = Counter(texts.values())
    in_place = {(one.thought, one.original): one for one in known}
    anywhere = {one.original: one for one in known}
    found = {}
    for place, text in texts.items():
        one = in_place.get((place, text)) or (anywhere.get(text) if count[text] == 1 else None)
        if one is not None:
            found[place] = one.model_copy(update={"thought": place})
    return found


def _refined_before(job: Job, prompt_sha256: str) -> list[RefinedThought]:
    """By this model, the newest last."""
    assert job.episode is not None
    jobs = writing_jobs(job.episode, job.requested_by, JobKind.REFINEMENT)
    same = jobs.filter(policy=job.policy, prompt_sha256__in=("", prompt_sha256), refined__isnull=False)
    return [one for row in reversed(same) for one in row.refined or ()]


def refining_models() -> QuerySet[PolicyRevision]:
    """The revisions that can refine, the newest first: those of an OpenAI-compatible server."""
    return PolicyRevision.objects.filter(provider=Provider.OPENAI_COMPATIBLE, scripted=False, retired_at__isnull=True)


def refining_model(policy_id: int) -> PolicyRevision:
    """One of these. Raises NotFound."""
    found = refining_models().filter(pk=policy_id).first()
    if found is None:
        raise NotFound("There is no such model.", field="policy")
    return found


def models_out() -> tuple[RefiningModel, ...]:
    """These, as they are shown."""
    return tuple(RefiningModel(id=row.pk, label=str(row)) for row in refining_models())


def refinement_out(*, user: User, episode_id: UUID) -> RefinementOut:
    """The last refinement of a session. Raises NotFound and Forbidden."""
    episode = episode_of(user=user, episode_id=episode_id)
    role_check(user, *WRITERS)
    recorded_session(episode_id)
    job = last_refinement(episode, user)
    return RefinementOut(
        job=None if job is None else job_out(job),
        policy=None if job is None else job.policy_id,
        models=models_out(),
        thoughts=() if job is None else job.refined or (),
    )
