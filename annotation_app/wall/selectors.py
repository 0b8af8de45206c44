"""The wall: every episode that runs now, and tickets for small pictures of their machines."""

from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode, Step
from annotation_app.episodes.selectors import episodes_visible
from annotation_app.live.stream_tickets import pictured_lease, stream_url, ticket_for_lease
from annotation_app.reports.selectors import STEP_AGGREGATES
from annotation_app.wall.schemas import WallPage, WallSession, WallStream
from protocol.evaluation.statistics import wilson_rate

PAGE_SIZE = 100
"""Sessions per page."""
LIVE_STATUSES = ("warming", "running", "paused")
MAX_TEXT_CHARACTERS = 600
"""How much of a terminal's screen is shown, from its end."""


def wall_page(*, user: User, page: int = 1) -> WallPage:
    """The sessions this person may see. Raises Forbidden."""
    role_check(user, Role.REVIEWER, Role.ADMIN)
    found = episodes_visible(user).filter(status__in=LIVE_STATUSES)
    counts = found.aggregate(total=Count("pk"), waiting=Count("pk", filter=Q(help_requested=True)))
    end = page * PAGE_SIZE
    ordered = (
        found.select_related("task__pool", "annotator").defer("desk").order_by("-help_requested", "created_at", "id")
    )
    episodes = list(ordered[end - PAGE_SIZE : end])
    steps, texts = _step_counts(episodes), _terminal_texts(episodes)
    return WallPage(
        at=timezone.now(),
        items=tuple(_session(each, steps.get(each.pk, {}), texts.get(each.pk, "")) for each in episodes),
        next=page + 1 if end < counts["total"] else None,
        **counts,
    )


def wall_tickets(*, user: User, episodes: tuple[UUID, ...], host: str) -> tuple[WallStream, ...]:
    """Single-use tickets for the pictures of these sessions, by bridge host. Sessions are left out if this person may
    not see them, they have ended, or their machine has no picture. Raises Forbidden."""
    role_check(user, Role.REVIEWER, Role.ADMIN)
    found = episodes_visible(user).filter(pk__in=episodes, status__in=LIVE_STATUSES)
    streams: dict[str, list[str]] = {}
    for episode_id, machine in found.values_list("pk", "machine"):
        lease = pictured_lease(machine)
        if lease is not None:
            ticket = ticket_for_lease("thumbnails", user.username, episode_id, lease)
            streams.setdefault(stream_url("thumbnails", ticket, host=host, bridge=lease.host), []).append(ticket)
    return tuple(WallStream(url=url, tickets=tuple(tickets)) for url, tickets in streams.items())


def _session(episode: Episode, steps: dict[str, Any], text: str) -> WallSession:
    judged = steps.get("judged", 0)
    return WallSession(
        id=episode.pk,
        instruction=episode.task.definition.instruction,
        pool=episode.task.pool.name,
        annotator=episode.annotator.name,
        status=episode.status,
        help_requested=episode.help_requested,
        attended=episode.attended,
        pictured=pictured_lease(episode.machine) is not None,
        text=text,
        steps=steps.get("done", 0),
        override=wilson_rate(steps["refused"], judged) if judged else None,
        created_at=episode.created_at,
        last_step_at=steps.get("last"),
    )


def _step_counts(episodes: list[Episode]) -> dict[UUID, dict[str, Any]]:
    """By episode: steps that were not taken back, the annotator's decisions and overrides among them, and the last
    step."""
    decisions = {name: STEP_AGGREGATES[name] for name in ("judged", "refused")}
    rows = Step.objects.filter(episode__in=episodes).order_by().values("episode_id")
    counted = rows.annotate(done=Count("pk", filter=Q(undoing__isnull=True)), last=Max("created_at"), **decisions)
    return {row["episode_id"]: dict(row) for row in counted}


def _terminal_texts(episodes: list[Episode]) -> dict[UUID, str]:
    """The latest terminal output of these steps. Only their documents are read."""
    terminals = [each.pk for each in episodes if each.task.pool.platform == "terminal"]
    if not terminals:
        return {}
    shown = ((each.pk, each.desk.observation) for each in Episode.objects.filter(pk__in=terminals).only("desk"))
    return {pk: (seen.text or "")[-MAX_TEXT_CHARACTERS:] for pk, seen in shown if seen is not None}
