"""Which hosts and ports a task may reach."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.trajectory.tasks import ANY_HOST

DEFAULT_PORTS = frozenset({80, 443})
"""What a pattern without a port allows."""
WILDCARD_PREFIX = "*."


@dataclass(frozen=True, slots=True)
class AllowRule:
    """One pattern: a host's name, every name below it, or every name, and the ports it may be asked on."""

    name: str
    subdomains: bool
    ports: frozenset[int]

    def matches_host(self, host: str) -> bool:
        """Whether it speaks of this host, on whatever port."""
        if self.name == ANY_HOST:
            return True
        return host.endswith(f".{self.name}") if self.subdomains else host == self.name


@dataclass(frozen=True, slots=True)
class AllowList:
    """What is not on it is refused."""

    rules: tuple[AllowRule, ...]

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "AllowList":
        """From the patterns of `Task.network`, which its type has checked."""
        return cls(tuple(map(_parse_rule, patterns)))

    def matches_host(self, host: str) -> bool:
        """Whether the host may be reached on some port."""
        return any(rule.matches_host(normalize_host(host)) for rule in self.rules)

    def allows(self, host: str, port: int) -> bool:
        """Whether the host may be reached on this port."""
        return any(rule.matches_host(normalize_host(host)) and port in rule.ports for rule in self.rules)


def normalize_host(host: str) -> str:
    """A host's name as rules compare it; the dot at the end of a full name means nothing to them."""
    return host.lower().removesuffix(".")


def _parse_rule(pattern: str) -> AllowRule:
    name, _, port = pattern.partition(":")
    subdomains = name.startswith(WILDCARD_PREFIX)
    return AllowRule(
        name=normalize_host(name.removeprefix(WILDCARD_PREFIX)),
        subdomains=subdomains,
        ports=frozenset({int(port)}) if port else DEFAULT_PORTS,
    )
