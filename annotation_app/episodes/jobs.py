"""What is looked for now and then: leases that ran out, and states that are needed."""

from annotation_app.celery import app
from annotation_app.episodes import services
from annotation_app.episodes.services.withdrawals import unauthorized_episodes_withdraw_all


@app.task(name="episodes.branches_refresh")
def branches_refresh_job() -> None:
    """Let pools drawn by need have the states that are needed."""
    services.branches_refresh()


@app.task(name="episodes.leases_expire")
def leases_expire_job() -> None:
    """Give back the tasks that were abandoned, and those of people who may not do them any more."""
    services.leases_expire()
    unauthorized_episodes_withdraw_all()
