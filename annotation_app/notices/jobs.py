"""Mail to who wants it."""

from annotation_app.celery import app
from annotation_app.notices import services


@app.task(name="notices.mail")
def notices_mail_job() -> None:
    """Mail what has not been mailed."""
    services.notices_mail()
