"""What the kills cost: acts that were lost or doubled, machines held twice, commands without a fate."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.kills.annotators import Annotator, Episode
from benchmarks.parts.kills.schedule import Death
from benchmarks.parts.kills.stack import Stack

UNKNOWN = "outcome_unknown"
BLAME_SECONDS = 30.0
"""A failure is blamed on what was ended within so long before it."""
MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A step as the database has it."""

    episode: str
    error: str | None


def count_damage(stack: Stack, people: Sequence[Annotator], deaths: Sequence[Death]) -> dict[str, object]:
    """Every figure that is read after the last kill."""
    stored: dict[str, StoredStep] = {}
    twice = Counter[str]()
    for episode, command, error in stack.steps():
        twice[command] += 1
        stored[command] = StoredStep(episode, error)
    episodes = [episode for person in people for episode in person.episodes]
    acts = stack.machine_logs.acts
    lost, refused = lost_or_rejected(episodes, stored, acts)
    doubled = [name for name, count in acts.items() if count > 1]
    doubled += [name for name, count in twice.items() if count > 1]
    without = [command for episode in episodes for command in episode.commands if not command.fate]
    _list_findings("acknowledged and lost", lost)
    _list_findings("done twice", doubled)
    _list_findings("refused and done", refused)
    _list_findings("without a fate", [f"{command.id} {command.body['type']}" for command in without])
    failed = [episode for episode in episodes if episode.failed_at is not None]
    by_redis = [episode for episode in failed if classify_failure(episode, deaths, stack.machine_logs.ended) == "redis"]
    others = [each for each in failed if each.id not in stack.machine_logs.ended]
    _list_findings("failed", [f"{each.id} {each.kind} {each.error!r} after {_before(each, deaths)}" for each in others])
    fates = Counter(f"{command.body['type']} {command.fate}" for episode in episodes for command in episode.commands)
    return {
        "acts": sum(person.steps for person in people),
        "acts_witnessed": sum(acts.values()),
        "acknowledged_lost": len(lost),
        "acts_doubled": len(doubled),
        "refused_but_done": len(refused),
        "held_twice": stack.machine_logs.doubly_held,
        "commands": sum(fates.values()),
        "commands_without_fate": len(without),
        "command_fates": dict(fates.most_common()),
        "outcome_unknown": sum(step.error == UNKNOWN for step in stored.values()),
        "episodes": len(episodes),
        "episodes_failed": dict(
            Counter(classify_failure(episode, deaths, stack.machine_logs.ended) for episode in failed)
        ),
        "episodes_failed_by_redis": len(by_redis),
    }


def lost_or_rejected(
    episodes: Sequence[Episode], stored: dict[str, StoredStep], acts: "Counter[str]"
) -> tuple[list[str], list[str]]:
    """Acts that were acknowledged and not stored, or stored as done and never done; acts that were refused and done."""
    lost, refused = [], []
    for episode in episodes:
        for command in episode.commands:
            if command.body["type"] != "act" or not command.id.startswith("a"):
                continue
            if command.fate in ("acknowledged", "recorded"):
                step = stored.get(command.id)
                never = episode.complete and acts[command.id] == 0 and step is not None and step.error is None
                if step is None or never:
                    lost.append(
                        f"{command.id} of {episode.kind} {episode.id}: {'not stored' if step is None else 'not done'}"
                    )
            elif command.fate and acts[command.id]:
                refused.append(f"{command.id} of {episode.kind} {episode.id}: {command.fate}")
    return lost, refused


def _before(episode: Episode, deaths: Sequence[Death]) -> list[str]:
    assert episode.failed_at is not None
    return [each.victim for each in deaths if 0 <= episode.failed_at - each.at < BLAME_SECONDS]


def classify_failure(episode: Episode, deaths: Sequence[Death], ended: Set[str]) -> str:
    """What an episode failed by: its machine that was ended on purpose, Redis, or something else."""
    if episode.id in ended:
        return "machine"
    return "redis" if any(name.startswith("redis") for name in _before(episode, deaths)) else "other"


def recovery_times(deaths: Sequence[Death]) -> dict[str, object]:
    """Seconds from a kill until everybody had acted again."""
    names = sorted({each.victim for each in deaths})
    return {
        "recovery_p50_s": percentile([each.recovery for each in deaths], 0.5),
        "recovery_p95_s": percentile([each.recovery for each in deaths], 0.95),
        "recovery_max_s": round(max(each.recovery for each in deaths), 1),
        "recovery_p95_s_by_victim": {
            name: percentile([each.recovery for each in deaths if each.victim == name], 0.95) for name in names
        },
    }


def _list_findings(what: str, found: Sequence[str]) -> None:
    if found:
        print_progress(f"{len(found)} {what}: {'; '.join(found[:MAX_LISTED])}")
