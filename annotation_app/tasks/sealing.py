"""Seals values that are kept and never shown again, with a key from the settings."""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def seal(value: str) -> str:
    """The value as it is kept; it carries the time and proves that nobody changed it."""
    return _keys().encrypt(value.encode()).decode()


def unseal(sealed: str) -> str:
    """The value again. Raises ValueError where it was sealed with a key that is not there any more."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise ValueError("this was sealed with another key") from None


def _keys() -> MultiFernet:
    """The first key seals, every one opens: so keys are replaced one after another."""
    given = settings.ENV.list_of("credentials_keys") or [settings.SECRET_KEY]
    return MultiFernet([_fernet(key) for key in given])


def _fernet(key: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"pilothouse task credentials")
    return Fernet(urlsafe_b64encode(derived.derive(key.encode())))
