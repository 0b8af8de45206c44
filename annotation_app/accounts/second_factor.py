"""How django-allauth stores the key of an authenticator app: sealed, so that a copy of the database opens nothing."""

from base64 import urlsafe_b64encode
from hashlib import sha256

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings

from annotation_app.encryption import SECOND_FACTORS_PURPOSE, decrypt_value, encrypt_value


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # untyped library
    """Seals with the keys of credentials, so that a new secret key ends no second factor."""

    def encrypt(self, text: str) -> str:
        return encrypt_value(text, purpose=SECOND_FACTORS_PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return decrypt_value(encrypted_text, purpose=SECOND_FACTORS_PURPOSE)
        except ValueError:
            return _legacy_key().decrypt(encrypted_text.encode()).decode()


def _legacy_key() -> Fernet:
    """The key that sealed factors before they had keys of their own: made from the secret key alone."""
    return Fernet(urlsafe_b64encode(sha256(f"pilothouse.factor:{settings.SECRET_KEY}".encode()).digest()))
