"""Periodic jobs: expire leases and refresh branch points."""

from annotation_app.celery import app
from annotation_app.episodes import services
from annotation_app.episodes.services.withdrawals import unauthorized_episodes_withdraw_all


@app.task(name="episodes.branches_refresh")
def branches_refresh_job() -> None:
    """Queue the branch points that pools drawn by need require."""
    services.branches_refresh()


@app.task(name="episodes.leases_expire")
def leases_expire_job() -> None:
    """Return abandoned tasks to their pools, and those of people who lost the right to do them."""
    services.leases_expire()
    unauthorized_episodes_withdraw_all()
