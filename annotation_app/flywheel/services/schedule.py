"""Scheduled cycles."""

from contextlib import suppress
from datetime import timedelta

from django.utils import timezone

from annotation_app.errors import Conflict, Forbidden
from annotation_app.flywheel.models import TurnState, Wheel
from annotation_app.flywheel.services.ledger import turn_begin
from annotation_app.flywheel.services.samples import is_enough


def turns_due() -> int:
    """Begin a cycle of every flywheel whose last one began long enough ago and did not fail, if there is enough new
    data. Returns how many. After a failure, a person has to look first."""
    begun = 0
    for wheel in Wheel.objects.filter(every_hours__isnull=False).select_related("owner"):
        last = wheel.turns.order_by("-number").first()
        waits = last is not None and last.created_at > timezone.now() - timedelta(hours=wheel.every_hours or 0)
        if waits or (last is not None and last.state in (TurnState.RUNNING, TurnState.FAILED)):
            continue
        if not is_enough(wheel):
            continue
        with suppress(Conflict, Forbidden):  # a person just started it, or its owner is no longer an admin
            turn_begin(user=wheel.owner, wheel_id=wheel.pk, by_clock=True)
            begun += 1
    return begun
