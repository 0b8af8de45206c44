"""How django-allauth keeps the key of an authenticator app: sealed, so that a copy of the database opens nothing."""

from base64 import urlsafe_b64encode
from hashlib import sha256

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # untyped library
    """Seals with a key made from the secret key."""

    def encrypt(self, text: str) -> str:
        return _seal().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _seal().decrypt(encrypted_text.encode()).decode()


def _seal() -> Fernet:
    return Fernet(urlsafe_b64encode(sha256(f"pilothouse.factor:{settings.SECRET_KEY}".encode()).digest()))
