"""Mail to one person."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail

logger = logging.getLogger(__name__)


def person_mail(*, address: str, subject: str, text: str) -> bool:
    """Send a message. Returns whether a server accepted it. Without an address or a mail server nothing is sent."""
    if not (address and settings.EMAIL_HOST):
        return False
    try:
        return bool(send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [address]))
    except (SMTPException, OSError):
        logger.exception("the message “%s” was not sent", subject)
        return False
