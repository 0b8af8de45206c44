"""Which hosts and ports a task may reach."""

from collections.abc import Sequence
from dataclasses import dataclass

WEB_PORTS = frozenset({80, 443})
"""What a pattern without a port allows."""
WILDCARD = "*."


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern: a host's name, or every name below it, and the ports it may be asked on."""

    name: str
    below: bool
    ports: frozenset[int]

    def names(self, host: str) -> bool:
        """Whether it speaks of this host, on whatever port."""
        return host.endswith(f".{self.name}") if self.below else host == self.name


@dataclass(frozen=True, slots=True)
class AllowList:
    """What is not on it is refused."""

    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "AllowList":
        """From the patterns of `Task.network`, which its type has checked."""
        return cls(tuple(map(_rule, patterns)))

    def names(self, host: str) -> bool:
        """Whether the host may be reached on some port."""
        return any(rule.names(host_plain(host)) for rule in self.rules)

    def allows(self, host: str, port: int) -> bool:
        """Whether the host may be reached on this port."""
        return any(rule.names(host_plain(host)) and port in rule.ports for rule in self.rules)


def host_plain(host: str) -> str:
    """A host's name as rules compare it; the dot at the end of a full name means nothing to them."""
    return host.lower().removesuffix(".")


def _rule(pattern: str) -> Rule:
    name, _, port = pattern.partition(":")
    below = name.startswith(WILDCARD)
    return Rule(
        name=host_plain(name.removeprefix(WILDCARD)),
        below=below,
        ports=frozenset({int(port)}) if port else WEB_PORTS,
    )
