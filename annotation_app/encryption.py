"""Encryption of values that are stored and never shown again, with keys from the settings."""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

CREDENTIALS_PURPOSE = b"pilothouse task credentials"
"""Purpose of the keys of tasks' and webhooks' secrets."""
SECOND_FACTORS_PURPOSE = b"pilothouse second factors"
"""Purpose of the keys of authenticator apps and recovery codes."""

PROVIDER_KEYS_PURPOSE = b"pilothouse provider keys"
"""Purpose of the keys of API keys for model servers and providers."""


def encrypt_value(value: str, *, purpose: bytes = CREDENTIALS_PURPOSE) -> str:
    """The value encrypted and signed, with the time."""
    return _keys(purpose).encrypt(value.encode()).decode()


def decrypt_value(ciphertext: str, *, purpose: bytes = CREDENTIALS_PURPOSE) -> str:
    """The value that was sealed for this purpose.

    Raises:
        ValueError: None of the present keys opens it.
    """
    try:
        return _keys(purpose).decrypt(ciphertext.encode()).decode()
    except InvalidToken:
        raise ValueError("this was sealed with another key") from None


def _keys(purpose: bytes) -> MultiFernet:
    """The first key seals and every one opens, so that keys are replaced one after another.

    The secret key opens too: it sealed what an installation stored before it had keys of its own.
    """
    keys = (*settings.CREDENTIALS_KEYS, settings.SECRET_KEY)
    return MultiFernet([_fernet(key, purpose) for key in keys])


def _fernet(key: str, purpose: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
    return Fernet(urlsafe_b64encode(derived.derive(key.encode())))
