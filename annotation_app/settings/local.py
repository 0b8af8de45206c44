"""One machine, no ceremony: secrets are made on first use and kept in the data folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from annotation_app.settings.base import *  # noqa: F403
from annotation_app.settings.base import ENV


def _kept_secret(path: Path) -> str:
    """The secret in this file, made on first use; processes that start together get the same one."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(f".{os.getpid()}.tmp")
        whole.write_text(secrets.token_urlsafe(48))
        whole.chmod(0o600)
        with suppress(FileExistsError):
            path.hardlink_to(whole)
        whole.unlink()
    return path.read_text()


SECRET_KEY = ENV.secret_key or _kept_secret(ENV.data / "secret_key")
CREDENTIALS_KEYS = ENV.list_of("credentials_keys") or [_kept_secret(ENV.data / "credentials_key")]
