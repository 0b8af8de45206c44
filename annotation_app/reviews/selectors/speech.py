"""The speech of a recorded session, and its thoughts as edited by reviewers."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import can_see_all_work
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episode_of
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.errors import NotFound
from annotation_app.reviews.models import Claim, ThoughtRevision
from annotation_app.reviews.selectors.details import may_do
from annotation_app.reviews.selectors.opinions import visible_revisions
from annotation_app.reviews.selectors.queue import claim_out
from annotation_app.reviews.speech_schemas import SpeechOut, ThoughtOut, ThoughtRevisionOut, TimelineStep, WordOut
from protocol.trajectory.elements import describe_element, step_elements
from protocol.trajectory.speech import (
    LoudnessRun,
    SpeechRecord,
    Thoughts,
    is_session,
    speech_of,
    step_of_thought,
    step_thoughts,
    thought_text,
)
from protocol.trajectory.trajectories import Trajectory


def recorded_session(episode_id: UUID) -> tuple[Trajectory, SpeechRecord]:
    """A recorded session and its speech, as they came in. Raises NotFound for other episodes."""
    trajectory = episode_trajectory(episode_id=episode_id)
    if not is_session(trajectory):
        raise NotFound("This is no recorded session.")
    return trajectory, speech_of(trajectory) or SpeechRecord()


def head_revision(episode: Episode, user: User) -> ThoughtRevision | None:
    """The revision that holds for this person; None: what came in."""
    return visible_revisions(episode, user).filter(undone_at__isnull=True).last()


def thoughts_of(episode: Episode, user: User) -> tuple[SpeechRecord, Thoughts] | None:
    """The speech of an episode and its thoughts as this person sees them; None where it is no recorded session."""
    source = getattr(episode, "source", None)
    speech = speech_of(source.head) if source is not None else None
    if speech is None:
        return None
    head = head_revision(episode, user)
    return speech, speech.thoughts if head is None else head.thoughts


def step_spans(trajectory: Trajectory) -> list[tuple[float, float]]:
    """When each step began and ended, in seconds of the session."""

    def seconds(moment: datetime) -> float:
        return round((moment - trajectory.created_at).total_seconds(), 3)

    return [(seconds(step.started_at), seconds(step.ended_at)) for step in trajectory.steps]


def speech_out(*, user: User, episode_id: UUID) -> SpeechOut:
    """The timeline of a recorded session this person may see. Its annotator sees thoughts as reviewers left them once
    it was decided. Raises NotFound."""
    episode = episode_of(user=user, episode_id=episode_id)
    trajectory, speech = recorded_session(episode_id)
    revisions = visible_revisions(episode, user).select_related("author")
    is_own = episode.annotator_id == user.pk
    if is_own or not can_see_all_work(user):
        revisions = revisions.filter(Q(round__lte=episode.rounds.count()) | Q(author=user))
    head = revisions.filter(undone_at__isnull=True).last()
    thoughts = speech.thoughts if head is None else head.thoughts
    claim = Claim.objects.select_related("reviewer").filter(episode=episode).first()
    held = claim_out(claim, user)
    spans = step_spans(trajectory)
    texts = step_thoughts(speech.words, thoughts, len(spans))
    elements = step_elements(trajectory)
    ends = [end for _, end in spans] + [word[1] for word in speech.words]
    if trajectory.finished_at is not None:
        ends.append((trajectory.finished_at - trajectory.created_at).total_seconds())
    return SpeechOut(
        duration=max(ends, default=0.0),
        levels=_levels(trajectory),
        words=tuple(WordOut(begin=begin, end=end, text=text) for begin, end, text in speech.words),
        thoughts=tuple(
            ThoughtOut(
                **one.model_dump(exclude={"text", "words"}),
                first_word=one.words[0],
                last_word=one.words[1],
                text=thought_text(speech.words, one),
                written=one.text is not None,
                step=step_of_thought(one) if (step_of_thought(one) or 0) < len(spans) else None,
            )
            for one in thoughts
        ),
        steps=tuple(
            TimelineStep(
                index=index,
                begin=begin,
                end=end,
                thought=texts[index],
                element=describe_element(elements[index]) if index in elements else "",
            )
            for index, (begin, end) in enumerate(spans)
        ),
        revision=0 if head is None else head.number,
        revisions=tuple(
            ThoughtRevisionOut(
                number=row.number,
                kind=row.kind,
                thought=row.thought,
                author=row.author.name,
                created_at=row.created_at,
                undone=row.undone_at is not None,
            )
            for row in revisions
        ),
        may_edit=may_do(user, episode) != "look" and (is_own or held is None or held.mine),
    )


def _levels(trajectory: Trajectory) -> tuple[LoudnessRun, ...]:
    recorded = trajectory.task.parameters.get("recording")
    levels = recorded.get("levels") if isinstance(recorded, dict) else None
    return tuple(LoudnessRun.model_validate(run) for run in levels) if isinstance(levels, list) else ()
