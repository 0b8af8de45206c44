"""What `secret:NAME` in an act stands for: put in on the way to a machine, and taken out of what it answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from protocol.actions.secrets import SECRET_PLACEHOLDER
from protocol.base import FrozenModel
from protocol.trajectory.observations import Observation

MCP_SERVER_KIND = "mcp_server"
"""Stands among the kinds of act for the environments and headers of MCP servers."""
DEFAULT_PORTS = {"http": 80, "https": 443}
SECRET_REFUSALS = {
    "kinds": "secret:{name} may be used by {allowed} only, not by {kind}. Nothing was done.",
    "host": "secret:{name} may be used at {allowed} only. This page is at {place}. Nothing was done.",
    "host_unknown": (
        "secret:{name} may be used at {allowed} only. The host in front is not known on this machine. Nothing was done."
    ),
    "application": "secret:{name} may be used in {allowed} only. {place} is in front. Nothing was done.",
    "application_unknown": (
        "secret:{name} may be used in {allowed} only. This machine does not tell what is in front. Nothing was done."
    ),
    "application_changed": (
        "Another application came to the front before the secret could be used. Look again, and decide again."
    ),
    "host_changed": "The page changed to another host before the secret could be used. Look again, and decide again.",
}
"""What is said of a secret that may not be used, as models and people read it. The page knows these sentences by their
English messages `secret_refused.…` and shows them in its language."""
A = TypeVar("A", bound=FrozenModel)


@dataclass(frozen=True, slots=True)
class TaskSecret:
    """A secret's value and what it is bound to.

    Attributes:
        kinds: Kinds of act that may use it.
        hosts: Hosts of the page in front where it may be used, `*.` before a name for all below it; empty: anywhere.
        applications: Applications in front in which it may be used, in lower case; empty: in any.
        confirm: Whether a person confirms its use where a policy proposes it.
    """

    value: str
    kinds: frozenset[str]
    hosts: tuple[str, ...] = ()
    confirm: bool = True
    applications: tuple[str, ...] = ()

    def refusal(self, name: str, kind: str, host: str, application: str) -> str:
        """Why an act of this kind may not use it at this host, in this application; empty where it may."""
        if kind not in self.kinds:
            return SECRET_REFUSALS["kinds"].format(name=name, allowed=", ".join(sorted(self.kinds)), kind=kind)
        if self.hosts and not any(_is_at(host, pattern) for pattern in self.hosts):
            reason = SECRET_REFUSALS["host" if host else "host_unknown"]
            return reason.format(name=name, allowed=", ".join(self.hosts), place=host)
        if self.applications and application not in self.applications:
            reason = SECRET_REFUSALS["application" if application else "application_unknown"]
            return reason.format(name=name, allowed=", ".join(self.applications), place=application)
        return ""


def server_secret_refusal(secrets: Mapping[str, TaskSecret], name: str, host: str) -> str:
    """Why an MCP server at this host (empty: inside the machine) may not use a secret; empty where it may."""
    if name not in secrets:
        return f"The pool has no secret {name}."
    secret = secrets[name]
    if MCP_SERVER_KIND not in secret.kinds:
        return f"secret:{name} may not be used by MCP servers. Add {MCP_SERVER_KIND} to the acts that may use it."
    if secret.applications:
        return f"secret:{name} is for certain applications only, and an MCP server is none."
    if secret.hosts and not any(_is_at(host, pattern) for pattern in secret.hosts):
        place = f"at {host}" if host else "inside the machine"
        return f"secret:{name} may be used at {', '.join(secret.hosts)} only, not {place}."
    return ""


def host_of(observation: Observation) -> str:
    """The host of the page in front, with its port where it is not the scheme's own; empty where it is not known."""
    try:
        parts = urlsplit(observation.url or "")
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        return ""
    named = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return named if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{named}:{port}"


def _is_at(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def substitute_secrets(action: A, values: Mapping[str, str]) -> A:
    """The act with the values in it; a name that nobody knows stays as it is."""
    original = action.model_dump()
    put = _map_strings(
        original, lambda text: SECRET_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
    )
    return action if put == original else type(action).model_validate(put)


def _map_strings(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: each if key == "kind" else _map_strings(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_map_strings(each, change) for each in value)
    return value
