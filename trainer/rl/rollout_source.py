"""Where the attempts of an on-policy update come from, and how old the weights that sampled them may be."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from protocol.dialects.families import get_dialect
from trainer.data.inbox import AttemptBatch, Inbox
from trainer.data.rendering import Renderer
from trainer.data.trajectories import open_folder
from trainer.errors import AttemptStale, ConfigInvalid
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, read_attempts
from trainer.rl.config import OnPolicyConfig

VERSION = "update-"
"""Prefix of a checkpoint's folder; with the number of its update it is the version of the weights."""


class RolloutSource(Protocol):
    """Provides the attempts of an update, as trajectory folders in the run's inbox."""

    def prepare(self, checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> int:
        """Put attempts into the inbox, or leave that to other processes.

        The loop calls this before each update, on the first rank only. A resumed run repeats the call for an update
        that was cut off, so it must be idempotent.

        Returns:
            How many attempts the inbox must hold before the update starts.
        """
        ...


class InboxSource:
    """Attempts that other processes write into the inbox."""

    def prepare(self, checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> int:
        """The configured number of attempts. Raises ConfigInvalid for a world that the trainer itself must play."""
        if config.world != "inbox":
            raise ConfigInvalid(f"the world {config.world} needs a rollout source that plays it")
        return config.attempts


class AttemptReader:
    """Reads the attempts of an update from the inbox as tokens."""

    def __init__(self, config: OnPolicyConfig, checkpoint: Checkpoint, inbox: Inbox, rollouts: RolloutSource) -> None:
        self._config, self._checkpoint, self._inbox, self._rollouts = config, checkpoint, inbox, rollouts
        self._renderer, self._dialect = (
            Renderer(checkpoint, context=config.tokens),
            get_dialect(config.dialect, config.prompt),
        )

    def attempts(self, update: int, place: dict[str, Any], compared: Collection[str] | None) -> AttemptBatch:
        """Wait for the attempts of the next update; for `compared` see `select_attempts`. Raises RolloutsMissing when
        they do not come in time."""
        count = self._rollouts.prepare(self._checkpoint, self._config, update)
        staleness = self._config.staleness
        most_judged = int(self._config.judged_share * count)
        return self._inbox.take(
            count,
            self._read,
            lambda one: check_fresh(one, update, place, staleness),
            most_judged=most_judged,
            compared=compared,
        )

    def _read(self, path: Path) -> tuple[list[Attempt], Counter[str]]:
        config = self._config
        return read_attempts(
            open_folder(path), self._dialect, self._renderer, shaping=config.shaping, temperature=config.temperature
        )


def check_fresh(attempt: Attempt, update: int, place: dict[str, Any], staleness: int) -> None:
    """Raise AttemptStale if a version is not of this run, or if every version is more than `staleness` updates old.

    An attempt may mix versions: its old part comes first, since later replies never come from older weights.
    """
    for version in attempt.versions:
        number = version.removeprefix(VERSION)
        if not (version.startswith(VERSION) and number.isdecimal() and int(number) < update):
            raise AttemptStale(f"{attempt.id}: {version} is no version of this run")
    if stale_versions([attempt], update, place, staleness).issuperset(attempt.versions):
        raise AttemptStale(f"{attempt.id}: {', '.join(attempt.versions)} are more than {staleness} updates old")


def stale_versions(attempts: Sequence[Attempt], update: int, place: dict[str, Any], staleness: int) -> set[str]:
    """The versions of these attempts that are more than `staleness` updates old."""
    met = {version for one in attempts for version in one.versions}
    return {one for one in met if version_age(int(one.removeprefix(VERSION)), update, place) > staleness}


def mean_age(attempts: Sequence[Attempt], update: int, place: dict[str, Any]) -> float:
    """Mean age of the weights when they sampled, in updates, over the sampled tokens."""
    tokens = Counter[str]()
    for attempt in attempts:
        for span in (span for step in attempt.steps for span in step.weight_versions):
            tokens[span.version] += span.tokens or 0
    aged = sum(version_age(int(one.removeprefix(VERSION)), update, place) * count for one, count in tokens.items())
    return aged / max(1, tokens.total())


def version_age(version: int, update: int, place: dict[str, Any]) -> int:
    """How many updates changed the policy between this version and the current update.

    The first `still` updates left the policy unchanged and do not count.
    """
    still = int(place.get("still", 0))
    return max(update - 1, still) - max(version, still)
