"""Digests by which a resent command is recognised."""

import hashlib
import json

from agent_backend.interfaces import EpisodeCommand

LATER_FIELDS = {"continued_characters": 0}
"""Fields that later releases added to commands, with their defaults. Defaults are left out, so that a command keeps the
digest that an earlier release stored for it."""


def digest_of(command: EpisodeCommand) -> str:
    """The sha256 of a command's whole body, which a resent command must match."""
    fields = command.model_dump(mode="json")
    body = {name: value for name, value in fields.items() if name not in LATER_FIELDS or value != LATER_FIELDS[name]}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
