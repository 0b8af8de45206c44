"""Episodes with their steps and proposals: as snapshots for the annotation page, and as trajectories."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from uuid import UUID

from annotation_app.accounts.selectors import pseudonym
from annotation_app.episodes.models import Episode
from annotation_app.episodes.models import Proposal as ProposalRow
from annotation_app.episodes.models import Step as StepRow
from annotation_app.episodes.models import SupervisorNote as NoteRow
from annotation_app.episodes.selectors import NO_EPISODE, state_of, task_of
from annotation_app.errors import NotFound
from annotation_app.transactions import repeatable_read
from protocol.messages.events import EpisodeState
from protocol.trajectory.mcp_servers import add_mcp_servers, redact_values
from protocol.trajectory.proposals import Proposal, strip_token_data
from protocol.trajectory.steps import Step, drop_undone_steps, step_policies, write_thought_later
from protocol.trajectory.trajectories import SupervisorNote, Trajectory

REMOVED = "removed"
"""Placeholder for the pseudonym of a supervisor whose work is kept out of exports."""
STEP_COLUMNS = ("document", "undoing", "late_thought__thought")
"""The columns that `step_of_row` takes, as names for `values_list`."""


def steps_of(episode: Episode) -> tuple[Step, ...]:
    """All steps in order, including those taken back, which are marked."""
    return tuple(step_of_row(*row) for row in episode.steps.order_by("index").values_list(*STEP_COLUMNS))


def step_of_row(document: Step, undoing: int | None, late_thought: str | None) -> Step:
    """A step with the thought that was written later, and whether it was taken back."""
    step = document if late_thought is None else write_thought_later(document, late_thought)
    return step if undoing is None else step.model_copy(update={"undone": True})


def episode_state(*, episode_id: UUID, with_steps: bool = True) -> EpisodeState:
    """A snapshot of an episode for the annotation page. Its row, steps and proposals are consistent, because later
    events are applied to them. Without `with_steps` it has no steps. Raises NotFound."""
    with repeatable_read():
        episode = Episode.objects.select_related("task__pool", "assignment").filter(pk=episode_id).first()
        if episode is None:
            raise NotFound(NO_EPISODE)
        return state_of(
            episode,
            steps=steps_of(episode) if with_steps else (),
            proposals=tuple(strip_token_data(_proposal_value(row)) for row in episode.proposals.filter(open=True)),
        )


def branch_steps(*, episode_id: UUID) -> tuple[Step, ...]:
    """The steps of an earlier episode to replay before this one begins; none if it is not a branch."""
    branch = Episode.objects.get(pk=episode_id).desk.branch_of
    if branch is None:
        return ()
    steps = drop_undone_steps(steps_of(Episode.objects.get(pk=branch.episode)))
    return steps[: branch.steps] if len(steps) >= branch.steps else ()


def episode_trajectory(*, episode_id: UUID) -> Trajectory:
    """The whole attempt as it is exported. Raises NotFound."""
    episode = Episode.objects.select_related("task__pool", "annotator").filter(pk=episode_id).first()
    if episode is None:
        raise NotFound(NO_EPISODE)
    return trajectory_of(episode)


def trajectory_of(episode: Episode) -> Trajectory:
    """An episode's steps with everything proposed for each, whatever its outcome."""
    offers = ((row.index, _proposal_value(row)) for row in episode.proposals.all())
    return _trajectory(episode, steps_of(episode), offers, _note_rows_of((episode.pk,))[episode.pk])


def trajectories_of(episodes: Collection[Episode]) -> Iterator[Trajectory]:
    """Whole trajectories of several episodes, in this order. Their steps and proposals are read together and as values,
    because building ORM rows would take longer than building the steps."""
    keys = [episode.pk for episode in episodes]
    steps: defaultdict[UUID, list[Step]] = defaultdict(list)
    rows = StepRow.objects.filter(episode__in=keys).order_by("episode_id", "index")
    for key, *row in rows.values_list("episode_id", *STEP_COLUMNS):
        steps[key].append(step_of_row(*row))
    offered: defaultdict[UUID, list[tuple[int, Proposal]]] = defaultdict(list)
    columns = ("episode_id", "index", "document", "mark")
    offers: Iterable[tuple[UUID, int, Any, str]] = ProposalRow.objects.filter(episode__in=keys).values_list(*columns)
    for key, index, document, mark in offers:
        offered[key].append((index, document.model_copy(update={"mark": mark or None})))
    notes = _note_rows_of(keys)
    for episode in episodes:
        yield _trajectory(episode, tuple(steps[episode.pk]), offered[episode.pk], notes[episode.pk])


def _note_rows_of(keys: Collection[UUID]) -> defaultdict[UUID, list[NoteRow]]:
    """How supervisors helped with these episodes, oldest first."""
    notes: defaultdict[UUID, list[NoteRow]] = defaultdict(list)
    for row in NoteRow.objects.filter(episode__in=keys).select_related("author").defer("text"):
        notes[row.episode_id].append(row)
    return notes


def _without_removed(steps: tuple[Step, ...], notes: Iterable[NoteRow]) -> tuple[Step, ...]:
    """The steps without the pseudonyms of supervisors whose work is kept out of exports. Each change of control has a
    note by its author."""
    removed = {pseudonym(row.author_id) for row in notes if row.author.work_removed}
    return tuple(step.model_copy(update={"acted_by": REMOVED}) if step.acted_by in removed else step for step in steps)


def _supervisor_note(row: NoteRow, steps: Iterable[Step]) -> SupervisorNote:
    return SupervisorNote(
        author=pseudonym(row.author_id),
        took_control=row.took_control,
        step=sum(step.started_at < row.created_at for step in steps),
        created_at=row.created_at,
    )


def _trajectory(
    episode: Episode,
    steps: tuple[Step, ...],
    offers: Iterable[tuple[int, Proposal]],
    notes: Collection[NoteRow],
) -> Trajectory:
    steps = _without_removed(steps, notes)
    offered = defaultdict(list)
    for index, proposal in offers:
        offered[index].append(proposal)
    proposals = tuple(tuple(offered[step.index]) for step in steps)
    source = getattr(episode, "source", None)
    if source is not None:  # imported: everything else stays as received
        head: Trajectory = source.head
        own = {"id": str(episode.id), "steps": steps, "proposals": proposals[: len(head.proposals)]}
        return head.model_copy(update=own)
    return Trajectory(
        id=str(episode.id),
        task=add_mcp_servers(task_of(episode), redact_values(episode.mcp_servers or {})),
        origin="annotation",
        annotator=pseudonym(episode.annotator_id),
        capabilities=episode.desk.capabilities,
        tools=episode.desk.tools,
        branch_of=episode.desk.branch_of,
        steps=steps,
        proposals=proposals,
        policies=step_policies(steps),
        supervisor_notes=tuple(_supervisor_note(row, steps) for row in notes if not row.author.work_removed),
        memories=episode.desk.memories,
        outcome=episode.outcome or None,
        answer=episode.desk.answer,
        verdict=episode.desk.verdict,
        terminated=episode.status == "finished",
        truncated=episode.status != "finished",
        created_at=episode.created_at,
        finished_at=episode.finished_at,
    )


def _proposal_value(row: ProposalRow) -> Proposal:
    return row.document.model_copy(update={"mark": row.mark or None})
