"""Leases that ran out, looked for now and then."""

from celery import shared_task

from annotation_app.episodes import services


@shared_task(name="episodes.leases_expire")
def leases_expire_job() -> None:
    """Give abandoned tasks back to their pools."""
    services.leases_expire()
