"""Pairing: a single-use code is exchanged for a token that only uploads recordings."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation_app.accounts.models import Token, User
from annotation_app.accounts.services import digest_secret, token_issue
from annotation_app.accounts.throttle import AttemptLimit
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound, VersionUnsupported
from annotation_app.imports.selectors import recorder_check
from annotation_app.recorder.models import PairedComputer
from annotation_app.recorder.schemas import PAIRING_VERSION, Paired, PairIn
from annotation_app.recorder.selectors import computers_of

CODE_ALPHABET = "CFHJKLMRTWXY34679"
"""Characters that stay distinct when they are read aloud or written by hand."""
CODE_GROUP, CODE_GROUPS = 4, 2
CODE_MINUTES = 10
TOKEN_DAYS = 365
MAX_COMPUTERS = 10
"""Of one person, with the codes that wait."""
SCOPES = ("recorder:read", "recorder:write")
PAIRING_LIMIT = AttemptLimit("pairing", limit=10, seconds=300)
"""Wrong codes from one address."""
ALL_PAIRING_LIMIT = AttemptLimit("pairing-all", limit=1_000, seconds=600)
"""Wrong codes from everywhere. There are 17^8 codes: with 100 codes open, these guesses find one with a chance of
1.5e-5."""


@transaction.atomic(durable=True)
def code_make(*, user: User, name: str) -> tuple[str, PairedComputer]:
    """A code with which one computer is paired within `CODE_MINUTES`, shown once; it replaces the person's code that
    waits. Raises Forbidden and Conflict."""
    recorder_check(user)
    User.objects.select_for_update().get(pk=user.pk)
    PairedComputer.objects.filter(user=user, paired_at__isnull=True).update(code_expires_at=timezone.now())
    old = timezone.now() - timedelta(minutes=CODE_MINUTES)
    PairedComputer.objects.filter(user=user, paired_at__isnull=True, code_expires_at__lt=old).delete()
    if computers_of(user).count() >= MAX_COMPUTERS:
        raise Conflict(
            f"One person may have {MAX_COMPUTERS} paired computers; revoke one first.", code="too_many_computers"
        )
    characters = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_GROUP * CODE_GROUPS))
    computer = PairedComputer.objects.create(
        user=user,
        name=name,
        code_digest=_digest_code(characters),
        code_expires_at=timezone.now() + timedelta(minutes=CODE_MINUTES),
    )
    return f"{characters[:CODE_GROUP]}-{characters[CODE_GROUP:]}", computer


def computer_pair(*, wanted: PairIn, address: str) -> Paired:
    """Exchange a code for the recorder's token. The code is used up.

    Args:
        address: Where the request comes from; wrong codes are counted by it.

    Raises:
        VersionUnsupported: `recorder_version`
        TooMany: `pairing_throttled`
        NotFound: `pairing_code_wrong`
        Conflict: `pairing_code_used`, `pairing_code_expired`, `too_many_tokens`
    """
    if wanted.version != PAIRING_VERSION:
        raise VersionUnsupported(
            f"This platform speaks version {PAIRING_VERSION} with recorders, and this recorder {wanted.version}.",
            code="recorder_version",
            extra={"supported": PAIRING_VERSION},
        )
    PAIRING_LIMIT.take(address, code="pairing_throttled")
    ALL_PAIRING_LIMIT.take("all", code="pairing_throttled")
    paired = _exchange(wanted.code)
    PAIRING_LIMIT.refund(address)
    ALL_PAIRING_LIMIT.refund("all")
    return paired


@transaction.atomic(durable=True)
def _exchange(code: str) -> Paired:
    computer = (
        PairedComputer.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(code_digest=_digest_code(code), user__is_active=True)
        .first()
    )
    if computer is None:
        raise NotFound("There is no such pairing code.", code="pairing_code_wrong")
    if computer.paired_at is not None:
        raise Conflict("This pairing code was used already. Make another one.", code="pairing_code_used")
    if computer.code_expires_at <= timezone.now():
        raise Conflict("This pairing code has expired. Make another one.", code="pairing_code_expired")
    user = computer.user
    token, row = token_issue(user=user, name=f"Recorder: {computer.name}"[:64], days=TOKEN_DAYS, scopes=SCOPES)
    computer.token, computer.token_sha256, computer.paired_at = row, row.sha256, timezone.now()
    computer.save(update_fields=["token", "token_sha256", "paired_at"])
    audit_record(actor=user, verb="recorder.paired", subject=f"user:{user.pk}", details={"computer": computer.name})
    return Paired(token=token, name=computer.name, expires_at=row.expires_at)


@transaction.atomic(durable=True)
def computer_revoke(*, user: User, computer_id: int) -> None:
    """End a pairing, or a code that waits. Raises Forbidden and NotFound."""
    recorder_check(user)
    computer = computers_of(user).filter(pk=computer_id).first()
    if computer is None:
        raise NotFound("You have no such computer.")
    _end(user, computer)


@transaction.atomic(durable=True)
def computer_unpair(*, user: User, secret: str) -> None:
    """End the pairing whose token this is. Raises NotFound for other tokens."""
    computer = PairedComputer.objects.filter(user=user, token__sha256=digest_secret(secret)).first()
    if computer is None:
        raise NotFound("This token is no paired computer's.", code="not_paired")
    _end(user, computer)


def _end(user: User, computer: PairedComputer) -> None:
    if computer.paired_at is None:
        computer.code_expires_at = timezone.now()
        computer.save(update_fields=["code_expires_at"])
    else:
        Token.objects.filter(computer=computer).delete()
    audit_record(actor=user, verb="recorder.revoked", subject=f"user:{user.pk}", details={"computer": computer.name})


def _digest_code(code: str) -> str:
    """What is stored of a code: keyed, because a code is short. Spaces, hyphens and case do not count."""
    characters = "".join(one for one in code.upper() if one.isalnum())
    return salted_hmac("annotation_app.recorder.code", characters, algorithm="sha256").hexdigest()
