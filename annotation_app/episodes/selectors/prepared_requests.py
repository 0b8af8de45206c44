"""What prepared requests cost, and how many were used."""

from datetime import date, datetime

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotation_app.episodes.models import PreparedRequest
from protocol.base import FrozenModel


class PreparedRequestCost(FrozenModel):
    """The prepared requests of one pool that began on one day (in the time zone of the server).

    Attributes:
        made: All of them.
        used: Those whose answers were shown: the first candidate was accepted and the prediction was right.
        discarded: Those thrown away, including those lost with their process. The rest are still waiting.
        seconds: Total duration of the requests.
        discarded_seconds: Total duration of the discarded requests.
        input_tokens: Prompt tokens of the requests whose server reported them.
        output_tokens: Reply tokens of the requests whose server reported them.
        discarded_input_tokens: Prompt tokens of discarded requests.
        discarded_output_tokens: Reply tokens of discarded requests.
        uncounted: Requests whose tokens are unknown.
    """

    pool_id: int
    pool: str
    day: date
    made: int
    used: int
    discarded: int
    seconds: float
    discarded_seconds: float
    input_tokens: int
    output_tokens: int
    discarded_input_tokens: int
    discarded_output_tokens: int
    uncounted: int


def prepared_request_costs(*, since: datetime) -> tuple[PreparedRequestCost, ...]:
    """Costs by day and pool, newest day first, of requests that began since then."""
    lost = Q(outcome="open") & (
        ~Q(runner_token=F("episode__runner_token"))
        | Q(episode__runner_until=None)
        | Q(episode__runner_until__lte=timezone.now())
    )
    gone = Q(outcome="discarded") | lost
    rows = (
        PreparedRequest.objects.filter(started_at__gte=since)
        .values(pool_id=F("episode__task__pool_id"), pool=F("episode__task__pool__name"), day=TruncDate("started_at"))
        .annotate(
            made=Count("pk"),
            used=Count("pk", filter=Q(outcome="used")),
            discarded=Count("pk", filter=gone),
            seconds_=Sum("seconds", default=0.0),
            discarded_seconds=Sum("seconds", filter=gone, default=0.0),
            input_tokens_=Sum("input_tokens", default=0),
            output_tokens_=Sum("output_tokens", default=0),
            discarded_input_tokens=Sum("input_tokens", filter=gone, default=0),
            discarded_output_tokens=Sum("output_tokens", filter=gone, default=0),
            uncounted=Count("pk", filter=Q(input_tokens=None)),
        )
        .order_by("-day", "pool")
    )
    return tuple(PreparedRequestCost(**{name.rstrip("_"): value for name, value in row.items()}) for row in rows)
