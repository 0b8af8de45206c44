"""The time that people spent on a cycle, and the gain at its gate."""

from datetime import timedelta
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, Sum

from annotation_app.episodes.models import Episode, Step
from annotation_app.flywheel.models import Sample, Turn
from annotation_app.flywheel.schemas import PeopleTime
from protocol.trajectory.steps import HUMAN_DECISIONS, REJECTING_DECISIONS

MIN_HOURS = 0.1
"""With fewer hours no figures per hour are given."""
_DURATION = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())


def people_counts(turn: Turn) -> dict[str, Any]:
    """People's work in the episodes that a cycle collected: `episodes`, `hours` from their beginnings to their ends,
    `judged` steps (with proposals available), and the `corrected` ones among these."""
    by_people = Step.objects.filter(
        decision__in=HUMAN_DECISIONS, episode__in=Sample.objects.filter(turn=turn).values("episode")
    )
    found = Episode.objects.filter(pk__in=by_people.values("episode"), source=None, finished_at__isnull=False)
    sums = found.aggregate(episodes=Count("pk"), lasted=Sum(_DURATION))
    steps = by_people.filter(episode__in=found).exclude(policy="")
    counts = steps.aggregate(judged=Count("pk"), corrected=Count("pk", filter=Q(decision__in=REJECTING_DECISIONS)))
    hours = (sums["lasted"] or timedelta()) / timedelta(hours=1)
    return {"episodes": sums["episodes"], "hours": hours, **counts}


def people_time(collected: dict[str, Any], tried: dict[str, Any]) -> PeopleTime | None:
    """The figures for display, from the results of the collecting and the trial stage; None if no person worked."""
    people = collected.get("people") or {}
    if not people.get("episodes"):
        return None
    gain = gate_gain(tried)
    hours: float = people["hours"]
    return PeopleTime(**people, gain=gain, gain_per_hour=None if gain is None or hours < MIN_HOURS else gain / hours)


def gate_gain(tried: dict[str, Any]) -> float | None:
    """The candidate's success rate minus the active revision's, at the tasks that both tried, from the result of the
    trial stage; None if only one tried. Older results have only the candidate's attempts at all tasks."""
    attempts = tried.get("compared_attempts", tried.get("attempts"))
    if not attempts or not tried.get("active_attempts"):
        return None
    successes = tried.get("compared_successes", tried.get("successes", 0))
    gain: float = successes / attempts - tried["active_successes"] / tried["active_attempts"]
    return gain
