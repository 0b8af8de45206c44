"""Encryption of stored values that are never shown again, with keys from the settings."""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

CREDENTIALS_PURPOSE = b"pilothouse task credentials"
"""Purpose of the keys for secrets of tasks and webhooks."""
SECOND_FACTORS_PURPOSE = b"pilothouse second factors"
"""Purpose of the keys for authenticator apps and recovery codes."""

PROVIDER_KEYS_PURPOSE = b"pilothouse provider keys"
"""Purpose of the keys for API keys of model servers and providers."""


def encrypt_value(value: str, *, purpose: bytes = CREDENTIALS_PURPOSE) -> str:
    """The value encrypted and signed, with a timestamp."""
    return _keys(purpose).encrypt(value.encode()).decode()


def decrypt_value(ciphertext: str, *, purpose: bytes = CREDENTIALS_PURPOSE) -> str:
    """The decrypted value.

    Raises:
        ValueError: None of the current keys decrypts it for this purpose.
    """
    try:
        return _keys(purpose).decrypt(ciphertext.encode()).decode()
    except InvalidToken:
        raise ValueError("this was sealed with another key") from None


def _keys(purpose: bytes) -> MultiFernet:
    """The first key encrypts and all of them decrypt, so that keys can be rotated.

    The secret key also decrypts. It encrypted what an installation stored before it had separate keys.
    """
    keys = (*settings.CREDENTIALS_KEYS, settings.SECRET_KEY)
    return MultiFernet([_fernet(key, purpose) for key in keys])


def _fernet(key: str, purpose: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
    return Fernet(urlsafe_b64encode(derived.derive(key.encode())))
