"""The lease of the process that drives an episode."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.episodes.models import Episode
from annotation_app.episodes.services.events import episode_lock


@transaction.atomic(durable=True)
def runner_acquire(*, episode_id: UUID, runner: str, seconds: float, dead: Callable[[str], bool]) -> int | None:
    """Acquire the lease of an episode. Returns its fencing token, or None while a living process holds the annotator's
    socket. Raises NotFound."""
    episode = episode_lock(episode_id)
    held = episode.runner not in ("", runner) and episode.attended and not dead(episode.runner)
    if held and episode.runner_until is not None and episode.runner_until > timezone.now():
        return None
    return _runner_install(episode, runner, seconds)


@transaction.atomic(durable=True)
def runner_take_over(*, episode_id: UUID, runner: str, seconds: float) -> int:
    """Take over the lease of an episode from any other process. Returns its fencing token. Raises NotFound."""
    return _runner_install(episode_lock(episode_id), runner, seconds)


def _runner_install(episode: Episode, runner: str, seconds: float) -> int:
    episode.runner = runner
    episode.runner_token += 1
    episode.runner_until = timezone.now() + timedelta(seconds=seconds)
    episode.attended = True
    episode.save(update_fields=["runner", "runner_token", "runner_until", "attended"])
    return episode.runner_token


@transaction.atomic(durable=True)
def runner_attendance_set(*, episode_id: UUID, token: int, attended: bool) -> None:
    """Record whether this process holds the annotator's socket. Does nothing if another process took over."""
    Episode.objects.filter(pk=episode_id, runner_token=token).update(attended=attended)


@transaction.atomic(durable=True)
def runners_renew(*, runner: str, seconds: float) -> frozenset[UUID]:
    """Renew the leases of all episodes that a process drives. Returns those episodes."""
    mine = Episode.objects.filter(runner=runner)
    mine.update(runner_until=timezone.now() + timedelta(seconds=seconds))
    return frozenset(mine.values_list("pk", flat=True))


@transaction.atomic(durable=True)
def runner_release(*, episode_id: UUID, token: int) -> None:
    """Release the lease of an episode. Does nothing if another process took it."""
    Episode.objects.filter(pk=episode_id, runner_token=token).update(runner="", runner_until=None)


@transaction.atomic(durable=True)
def machine_set(*, episode_id: UUID, token: int, machine: str) -> None:
    """Store the bridge's lease, so that any process can take the machine over. Empty when the machine is released."""
    episode = episode_lock(episode_id, token)
    episode.machine = machine
    episode.save(update_fields=["machine"])
