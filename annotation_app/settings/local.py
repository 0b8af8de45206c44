"""One machine, no ceremony: secrets are made on first use and kept in the data folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from annotation_app.settings.base import *  # noqa: F403
from annotation_app.settings.base import ENV
from annotation_app.settings.env import cookie_settings


def _persisted_secret(path: Path) -> str:
    """The secret in this file, made on first use; processes that start together get the same one."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        partial.write_text(secrets.token_urlsafe(48))
        partial.chmod(0o600)
        with suppress(FileExistsError):
            path.hardlink_to(partial)
        partial.unlink()
    return path.read_text()


SECRET_KEY = ENV.secret_key or _persisted_secret(ENV.data / "secret_key")
CREDENTIALS_KEYS = ENV.list_of("credentials_keys") or [_persisted_secret(ENV.data / "credentials_key")]
globals().update(cookie_settings(SECRET_KEY, https=ENV.https))
