"""The secrets of one installation: generated once, stored in a file that only its owner can read."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Self

SECRET_BYTES = 32


def _generate_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


@dataclass(frozen=True, slots=True)
class InstallationSecrets:
    """Separate secrets for parts that must not know each other's."""

    django: str = field(default_factory=_generate_secret)
    bridge: str = field(default_factory=_generate_secret)
    redis: str = field(default_factory=_generate_secret)
    redis_platform: str = field(default_factory=_generate_secret)
    redis_bridge: str = field(default_factory=_generate_secret)

    @classmethod
    def load_or_create(cls, file: Path) -> Self:
        """The secrets in `file`. Missing ones are generated and written (mode 0600, written then renamed)."""
        stored = json.loads(file.read_text()) if file.exists() else {}
        loaded = cls(**{each.name: stored[each.name] for each in fields(cls) if each.name in stored})
        if asdict(loaded) != stored:
            fresh = file.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                json.dump(asdict(loaded), out, indent=1)
            fresh.rename(file)
        return loaded
