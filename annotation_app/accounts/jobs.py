"""Background jobs for accounts."""

from celery import shared_task  # lazy: apps import the platform's Celery, which imports them

from annotation_app.accounts.services import password_link_mail


@shared_task(name="accounts.password_link_mail")
def password_link_mail_job(login: str, base: str) -> None:
    """Send password links. Runs in the background, so that response time does not reveal whether an account exists."""
    password_link_mail(login=login, base=base)
