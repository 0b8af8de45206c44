"""What accounts do in the background."""

from celery import shared_task  # apps know the platform's Celery, which knows them

from annotation_app.accounts.services import password_link_mail


@shared_task(name="accounts.password_link_mail")
def password_link_mail_job(login: str, base: str) -> None:
    """Send password links. In the background, so that the answer takes as long for people there are as for others."""
    password_link_mail(login=login, base=base)
