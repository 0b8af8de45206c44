"""Sending notices. Only these services write to their table."""

import logging
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.notifications.models import Notice
from annotation_app.notifications.schemas import NoticeKind

logger = logging.getLogger(__name__)

MAX_NOTICES_PER_USER = 200
"""Most notices of a person; older ones are deleted."""
MAILS_PER_RUN = 50
"""Mails of one go."""
PREFERENCE = "mail_notices"
"""People who chose it in their preferences also get a mail."""
MAIL_TEXTS: dict[str, str] = {
    "export.finished": "Your export is done",
    "export.failed": "Your export failed",
    "import.finished": "Your import is done",
    "import.failed": "Your import failed",
    "review.returned": "A reviewer sent your work back",
    "review.rejected": "A reviewer rejected your work",
    "help.requested": "An annotator or a policy asks for help",
    "help.note": "A supervisor wrote a note on your task",
    "task.lost": "A task of yours went back to its pool",
    "machine.taken": "The machine of an episode of yours was taken back",
    "webhook.disabled": "A webhook was switched off",
    "policy.degraded": "A probe found something wrong with a model that proposes",
    "part.failed": "A part of the platform does not work",
    "disk.filling": "The disk is filling up",
}
PAGE_URLS = {
    "export": "/exports",
    "import": "/exports",
    "episode": "/episodes/{id}",
    "webhook": "/webhooks",
    "policy": "/policies",
    "health": "/health",
}


def notice_create(*, user: User, kind: NoticeKind, subject: str, details: dict[str, Any] | None = None) -> None:
    """Store a notice for a person, in the transaction of its cause."""
    Notice.objects.create(user=user, kind=kind, subject=subject, details=details or {})
    oldest = (
        Notice.objects.filter(user=user)
        .order_by("-id")
        .values_list("pk", flat=True)[MAX_NOTICES_PER_USER : MAX_NOTICES_PER_USER + 1]
        .first()
    )
    if oldest is not None:
        Notice.objects.filter(user=user, pk__lte=oldest).delete()


def supervisors_notify(*, kind: NoticeKind, subject: str, details: dict[str, Any] | None = None) -> None:
    """Notify every reviewer and admin, in the transaction in which it happens."""
    supervisors = Q(roles__contains=[Role.REVIEWER]) | Q(roles__contains=[Role.ADMIN])
    for user in User.objects.filter(supervisors, is_active=True):
        notice_create(user=user, kind=kind, subject=subject, details=details)


def admins_notify(*, kind: NoticeKind, subject: str, details: dict[str, Any] | None = None) -> None:
    """Tell every admin, in the transaction in which it happens."""
    for admin in User.objects.filter(is_active=True, roles__contains=[Role.ADMIN]):
        notice_create(user=admin, kind=kind, subject=subject, details=details)


def notices_read(*, user: User, until: int) -> None:
    """Mark a person's notices as read, up to this one."""
    Notice.objects.filter(user=user, pk__lte=until, read_at__isnull=True).update(read_at=timezone.now())


def notices_mail() -> int:
    """Mail what has not been mailed, to who wants it; how many mails a server took. One that was not taken is not
    tried again: it stands in the bar."""
    sent = 0
    for key in (
        Notice.objects.filter(mailed_at__isnull=True).order_by("id").values_list("pk", flat=True)[:MAILS_PER_RUN]
    ):
        with transaction.atomic(durable=True):
            notice = Notice.objects.select_for_update(skip_locked=True).filter(pk=key, mailed_at__isnull=True).first()
            if notice is None:
                continue
            notice.mailed_at = timezone.now()
            notice.save(update_fields=["mailed_at"])
        sent += _mail(notice)
    return sent


def _mail(notice: Notice) -> bool:
    user = notice.user
    if not (settings.EMAIL_HOST and user.email and user.is_active and user.preferences.get(PREFERENCE)):
        return False
    kind, _, subject_id = notice.subject.partition(":")
    page = PAGE_URLS.get(kind, "/").format(id=subject_id)
    origin = next(iter(settings.CSRF_TRUSTED_ORIGINS), "")
    reason = str(notice.details.get("reason", ""))[:500]
    text = "\n\n".join(part for part in (f"{MAIL_TEXTS[notice.kind]}.", reason, f"{origin}{page}") if part)
    try:
        return bool(
            send_mail(f"Pilothouse: {MAIL_TEXTS[notice.kind]}", text, settings.DEFAULT_FROM_EMAIL, [user.email])
        )
    except (SMTPException, OSError):
        logger.exception("notice %s was not sent by e-mail", notice.pk)
        return False
