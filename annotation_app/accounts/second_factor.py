"""Encryption of authenticator keys for django-allauth, so that a copy of the database reveals none."""

from base64 import urlsafe_b64encode
from hashlib import sha256

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings

from annotation_app.encryption import SECOND_FACTORS_PURPOSE, decrypt_value, encrypt_value


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # untyped library
    """Encrypts with the keys for credentials, so that a new secret key invalidates no second factor."""

    def encrypt(self, text: str) -> str:
        return encrypt_value(text, purpose=SECOND_FACTORS_PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return decrypt_value(encrypted_text, purpose=SECOND_FACTORS_PURPOSE)
        except ValueError:
            return _legacy_key().decrypt(encrypted_text.encode()).decode()


def _legacy_key() -> Fernet:
    """The key that encrypted factors before they had keys of their own. It is derived from the secret key alone."""
    return Fernet(urlsafe_b64encode(sha256(f"pilothouse.factor:{settings.SECRET_KEY}".encode()).digest()))
