"""Names of earlier versions, read for one release with a warning: environment variables, commands and their options.

Standard library only: `./pilothouse` reads it before any package is installed.
"""

import logging
from collections.abc import Mapping, Sequence

logger = logging.getLogger(__name__)

REMOVED_IN = "0.3.0"
"""The version that no longer reads these names."""
ENVIRONMENT = {
    "PILOTHOUSE_BROWSER_WITHOUT_WALLS": "PILOTHOUSE_BROWSER_UNSANDBOXED",
    "PILOTHOUSE_JOURNAL": "PILOTHOUSE_FAKE_MACHINE_LOG",
    "PILOTHOUSE_SECURE": "PILOTHOUSE_HTTPS",
    "PILOTHOUSE_WARM": "PILOTHOUSE_WARM_POOL",
    "PILOTHOUSE_WEBHOOKS_PRIVATE": "PILOTHOUSE_WEBHOOKS_ALLOW_PRIVATE",
}
"""Environment variables: the former name and the present one."""

PILOTHOUSE_COMMANDS = {"wheel": {"wheel": "flywheel", "--small": "--toy", "--turns": "--cycles"}}
"""Words of `./pilothouse COMMAND …` by the former command: the former word and the present one."""

MANAGE_COMMANDS = {
    "set_wheel": {"set_wheel": "configure_flywheel"},
    "turn_wheel": {"turn_wheel": "run_flywheel", "--turns": "--cycles"},
}
"""The same of `manage.py COMMAND …`."""


def current_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment under present names. Where both names are set, the present one counts."""
    current = dict(environment)
    for former, present in ENVIRONMENT.items():
        if former in current:
            value = current.pop(former)
            current.setdefault(present, value)
            _warn(former, present)
    return current


def current_words(words: Sequence[str]) -> list[str]:
    """The words of `./pilothouse`, without its own name, under present names."""
    return _current(words, PILOTHOUSE_COMMANDS, "./pilothouse")


def current_manage_words(words: Sequence[str]) -> list[str]:
    """The words of `manage.py`, without its own name, under present names."""
    return _current(words, MANAGE_COMMANDS, "manage.py")


def _current(words: Sequence[str], commands: Mapping[str, Mapping[str, str]], program: str) -> list[str]:
    table = commands.get(words[0], {}) if words else {}
    if table:
        _warn(f"{program} {words[0]}", f"{program} {table[words[0]]}")
    return [table.get(word, word) for word in words]


def _warn(former: str, present: str) -> None:
    logger.warning("%s has been renamed to %s; version %s no longer reads the former name", former, present, REMOVED_IN)
