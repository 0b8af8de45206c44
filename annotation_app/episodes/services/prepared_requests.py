"""Accounting for prepared requests: model requests sent ahead of need."""

from datetime import datetime
from uuid import UUID

from annotation_app.episodes.models import PreparedRequest

CHANGING = ("outcome", "seconds", "input_tokens", "output_tokens")


def prepared_request_record(
    *,
    episode_id: UUID,
    token: int,
    request_id: UUID,
    started_at: datetime,
    outcome: str,
    seconds: float | None,
    input_tokens: int | None,
    output_tokens: int | None,
) -> None:
    """Store what is known of a prepared request, replacing earlier data. No runner lease is required, because the cost
    stays valid after another process takes the episode over."""
    row = PreparedRequest(
        id=request_id,
        episode_id=episode_id,
        runner_token=token,
        started_at=started_at,
        outcome=outcome,
        seconds=seconds,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )
    PreparedRequest.objects.bulk_create([row], update_conflicts=True, unique_fields=["id"], update_fields=CHANGING)
