"""Messages on their way."""

from uuid import UUID

from annotation_app.celery import app
from annotation_app.webhooks import services

LONGEST = 30
"""Seconds an attempt may take, whatever the receiver does; the worker goes on with the next."""


@app.task(name="webhooks.due")
def deliveries_due_job() -> None:
    """Hand what is due to workers, one message each: a slow receiver holds up nobody else's."""
    for delivery_id in services.deliveries_claim():
        delivery_send_job.delay(str(delivery_id))


@app.task(name="webhooks.send", time_limit=LONGEST + 10, soft_time_limit=LONGEST)
def delivery_send_job(delivery_id: str) -> None:
    """Try to deliver one message; running it again does no harm."""
    services.delivery_send(delivery_id=UUID(delivery_id))
