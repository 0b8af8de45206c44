"""Celery jobs that send notices by mail and messages to webhooks."""

from uuid import UUID

from annotation_app.celery import app
from annotation_app.notifications.services import notices, webhooks

DELIVERY_TIMEOUT_SECONDS = 30
"""Limit of one attempt, however slow the receiver is; then the worker goes on with the next message."""


@app.task(name="notices.mail")
def notices_mail_job() -> None:
    """Mail the notices that have not been mailed."""
    notices.notices_mail()


@app.task(name="webhooks.due")
def deliveries_due_job() -> None:
    """Hand each due message to a worker of its own, so that a slow receiver delays no other."""
    for delivery_id in webhooks.deliveries_claim():
        delivery_send_job.delay(str(delivery_id))


@app.task(name="webhooks.send", time_limit=DELIVERY_TIMEOUT_SECONDS + 10, soft_time_limit=DELIVERY_TIMEOUT_SECONDS)
def delivery_send_job(delivery_id: str) -> None:
    """Try to deliver one message. Running it again is harmless."""
    webhooks.delivery_send(delivery_id=UUID(delivery_id))
