"""Background jobs of accounts."""

from annotation_app.accounts import services
from annotation_app.celery import app


@app.task(name="accounts.sessions_clear")
def sessions_clear_job() -> None:
    """Delete expired sessions, so that a copy of the database holds none."""
    services.sessions_clear()
