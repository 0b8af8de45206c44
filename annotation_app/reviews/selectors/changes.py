"""What changed of an episode since it was sent back."""

from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import steps_of
from annotation_app.reviews.models import Fix, ThoughtRevision
from annotation_app.reviews.schemas import Change, StepContent
from annotation_app.reviews.selectors.opinions import visible_fixes, visible_revisions
from annotation_app.reviews.selectors.reviewed_trajectories import fix_value, segments_of
from protocol.evaluation.agreement import align_steps
from protocol.trajectory.reviews import StepReview
from protocol.trajectory.speech import speech_of, step_thoughts
from protocol.trajectory.steps import Step, apply_review_fix, drop_undone_steps


def changes_of(episode: Episode, user: User, before: Episode | None, returned: int) -> tuple[Change, ...]:
    """How its steps differ from what was sent back last, by corrections or by a new attempt. In a recorded session,
    thoughts that were edited on the timeline count too. One that was not sent back is compared with its upload."""
    fixes, revisions = visible_fixes(episode, user), visible_revisions(episode, user)
    now = _steps(episode, fixes, revisions)
    if returned or (before is None and revisions.exists()):
        return _differences(_steps(episode, fixes, revisions, through=returned), now)
    return _differences(_steps(before, before.fixes.all(), before.thought_revisions.all()), now) if before else ()


def _steps(
    episode: Episode, fixes: QuerySet[Fix], revisions: QuerySet[ThoughtRevision], *, through: int | None = None
) -> tuple[Step, ...]:
    """The steps that count, as the fixes and edits of thoughts up to and with this round left them, within what was not
    cut away."""
    fixes = fixes.order_by("revision")
    if through is not None:
        fixes = fixes.filter(round__lte=through)
        revisions = revisions.filter(round__lte=through)
    found = {fix.index: fix_value(fix) for fix in fixes}
    segments = segments_of(episode)
    steps = (
        apply_review_fix(step.model_copy(update={"review": StepReview(fix=found[step.index])}))
        if step.index in found
        else step
        for step in drop_undone_steps(_with_edited_thoughts(episode, steps_of(episode), revisions))
    )
    return tuple(
        step for step in steps if not segments or any(part.first <= step.index <= part.last for part in segments)
    )


def _with_edited_thoughts(
    episode: Episode, steps: tuple[Step, ...], revisions: QuerySet[ThoughtRevision]
) -> tuple[Step, ...]:
    """The steps of a recorded session with the thoughts of the last of these revisions; others as they are."""
    last = revisions.filter(undone_at__isnull=True).last()
    source = getattr(episode, "source", None)
    speech = speech_of(source.head) if source is not None and last is not None else None
    if last is None or speech is None:
        return steps
    before = step_thoughts(speech.words, speech.thoughts, len(steps))
    after = step_thoughts(speech.words, last.thoughts, len(steps))
    return tuple(
        step if old == new else step.model_copy(update={"thought": new})
        for step, old, new in zip(steps, before, after, strict=True)
    )


def _differences(before: tuple[Step, ...], after: tuple[Step, ...]) -> tuple[Change, ...]:
    found: list[Change] = []
    for pair in align_steps(before, after):
        old = None if pair.one is None else _step_content(before[pair.one])
        new = None if pair.other is None else _step_content(after[pair.other])
        if old is None or new is None:
            found.append(Change(kind="added" if old is None else "removed", before=old, after=new))
        elif not pair.same or old.thought != new.thought:
            found.append(Change(kind="changed", before=old, after=new))
    return tuple(found)


def _step_content(step: Step) -> StepContent:
    return StepContent(index=step.index, thought=step.thought, action=step.action)
