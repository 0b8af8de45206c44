"""An episode's row, locked, and how an event changes it."""

from uuid import UUID

from annotation_app.episodes import selectors
from annotation_app.episodes.event_bus import publish_on_commit
from annotation_app.episodes.models import Episode, EpisodeStateDocument
from annotation_app.errors import Conflict, NotFound
from protocol.messages.events import (
    DurableEvent,
)
from protocol.messages.state import apply_event


class RunnerFenced(Conflict):
    """Another process drives the episode now."""

    code = "episode_fenced"


def episode_lock(episode_id: UUID, token: int | None = None) -> Episode:
    """The row, for update; with a token, only for the runner that holds it. Raises NotFound and RunnerFenced."""
    episode = (
        Episode.objects.select_for_update(of=("self",))
        .select_related("task__pool", "assignment")
        .filter(pk=episode_id)
        .first()
    )
    if episode is None:
        raise NotFound(selectors.NO_EPISODE)
    if token is not None and episode.runner_token != token:
        raise RunnerFenced("Another process drives this episode now.")
    return episode


def pool_running_check(episode: Episode) -> None:
    """Raises Conflict where nobody may act in the episode's pool."""
    pool = episode.task.pool
    if pool.stopped_at is not None:
        raise Conflict(pool_stopped_message(pool.stop_reason), code="pool_stopped")


def pool_stopped_message(reason: str) -> str:
    """What annotators read of a pool that was stopped."""
    return f"An admin stopped this pool: {reason}" if reason else "An admin stopped this pool."


def event_apply(episode: Episode, event: DurableEvent) -> None:
    """Apply an event to the locked row and tell everybody after commit."""
    after = apply_event(selectors.state_of(episode), event)
    episode.version = after.version
    episode.status = after.status
    episode.outcome = after.outcome or ""
    episode.help_requested = after.help_requested
    episode.finished_at = after.finished_at
    episode.desk = EpisodeStateDocument(**{name: getattr(after, name) for name in EpisodeStateDocument.model_fields})
    episode.save(update_fields=["version", "status", "outcome", "help_requested", "finished_at", "desk", "pending"])
    if after.lease_expires_at is not None and after.lease_expires_at != episode.assignment.expires_at:
        episode.assignment.expires_at = after.lease_expires_at
        episode.assignment.save(update_fields=["expires_at"])
    publish_on_commit(episode_id=str(episode.id), event=event)
