"""The second factor: an authenticator app and its recovery codes, stored by django-allauth."""

from typing import cast

from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, validate_totp_code
from django.core.cache import cache
from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.accounts.schemas import FactorSetup
from annotation_app.accounts.throttle import FACTOR_LIMIT
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Invalid

SETUP_TIMEOUT_SECONDS = 600
"""Time to set up an authenticator app (seconds)."""
WRONG_PASSWORD_MESSAGE = "The password is wrong."  # noqa: S105 - a message
WRONG_CODE_MESSAGE = "This code is wrong, or was used before."


def has_second_factor(user: User) -> bool:
    """Whether this person needs more than a password to sign in."""
    return bool(Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists())


def code_check(*, user: User, code: str) -> None:
    """Consume a code of this person.

    Raises:
        TooMany: After too many wrong codes for this account, from any address.
        Invalid: The code is wrong or was used before.
    """
    FACTOR_LIMIT.take(str(user.pk), code="factor_throttled")
    if not code_consume(user=user, code=code):
        raise Invalid(WRONG_CODE_MESSAGE, code="wrong_code", field="code")
    FACTOR_LIMIT.clear(str(user.pk))


def code_consume(*, user: User, code: str) -> bool:
    """Whether this is a current, unused code of the app, or an unused recovery code."""
    plain = code.replace(" ", "")
    known = any(
        bool(authenticator.wrap().validate_code(plain))
        for authenticator in Authenticator.objects.filter(
            user=user, type__in=(Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
        )
    )
    return known and bool(cache.add(f"factor.taken:{user.pk}:{plain}", True, _code_validity_seconds()))


def _code_validity_seconds() -> int:
    """Seconds for which a code is valid. The library forgets a used code after a single period, ignoring its
    tolerance."""
    return int(app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1))


def factor_setup_start(*, user: User) -> FactorSetup:
    """A key for an authenticator app. It takes effect when a code shows that the app has it. Raises Conflict."""
    if has_second_factor(user):
        raise Conflict("There is an authenticator already.", code="factor_exists")
    secret = generate_totp_secret()
    adapter = get_adapter()
    cache.set(_setup_key(user), adapter.encrypt(secret), SETUP_TIMEOUT_SECONDS)
    address = adapter.build_totp_url(user, secret)
    return FactorSetup(secret=secret, address=address, picture=adapter.build_totp_svg(address))


@transaction.atomic(durable=True)
def factor_confirm(*, user: User, code: str) -> tuple[str, ...]:
    """Require a code from now on. Returns the recovery codes. Raises Conflict and Invalid."""
    User.objects.select_for_update().get(pk=user.pk)
    if has_second_factor(user):
        raise Conflict("There is an authenticator already.", code="factor_exists")
    sealed = cache.get(_setup_key(user))
    if sealed is None:
        raise Conflict("That took too long; begin again.", code="factor_not_begun")
    secret = get_adapter().decrypt(sealed)
    FACTOR_LIMIT.take(str(user.pk), code="factor_throttled")
    if not validate_totp_code(secret, code.replace(" ", "")):
        raise Invalid("This is not what the authenticator shows now.", code="wrong_code", field="code")
    FACTOR_LIMIT.clear(str(user.pk))
    TOTP.activate(user, secret)
    cache.delete(_setup_key(user))
    audit_record(actor=user, verb="factor.added", subject=f"user:{user.pk}")
    return recovery_codes_make(user=user)


def recovery_codes_make(*, user: User) -> tuple[str, ...]:
    """New recovery codes, replacing any earlier ones."""
    Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).delete()
    return tuple(cast(list[str], RecoveryCodes.activate(user).generate_codes()))


@transaction.atomic(durable=True)
def recovery_codes_renew(*, user: User) -> tuple[str, ...]:
    """New recovery codes; the old ones become invalid. Raises Conflict."""
    if not has_second_factor(user):
        raise Conflict("There is no authenticator.", code="no_factor")
    audit_record(actor=user, verb="factor.codes_renewed", subject=f"user:{user.pk}")
    return recovery_codes_make(user=user)


@transaction.atomic(durable=True)
def factor_remove(*, actor: User, user: User) -> None:
    """Make a password sufficient again. An admin does it for a person who lost their app."""
    removed, _kinds = Authenticator.objects.filter(user=user).delete()
    if removed:
        audit_record(actor=actor, verb="factor.removed", subject=f"user:{user.pk}")


def password_check(*, user: User, password: str, field: str = "password") -> None:
    """Check the identity of this person by their password. A person without a password need not give one. `field` is
    the request field that holds it.

    Raises:
        TooMany: After too many wrong passwords for this account, from any address.
        Invalid: The password is wrong.
    """
    if not user.has_usable_password():
        return
    FACTOR_LIMIT.take(str(user.pk), code="factor_throttled")
    if not user.check_password(password):
        raise Invalid(WRONG_PASSWORD_MESSAGE, code="wrong_credentials", field=field)
    FACTOR_LIMIT.clear(str(user.pk))


def _setup_key(user: User) -> str:
    return f"factor.setup:{user.pk}"
