"""Queries container registries for digests, by the HTTP API v2 of the OCI distribution specification."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPException
from typing import NamedTuple

MANIFEST_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
"""An index of all platforms first, because its digest is valid on each of them."""
DOCKER_HUB, DOCKER_HUB_URL = "docker.io", "https://registry-1.docker.io"
TIMEOUT_SECONDS = 20.0
MAX_MANIFEST_BYTES = 4 * 2**20
CHALLENGE_PATTERN = re.compile(r'(\w+)="([^"]*)"')
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


class RegistryUnavailable(Exception):
    """A registry did not answer, or its answer is invalid. The digest is unknown."""


class ImageName(NamedTuple):
    """The location of an image: a registry, a repository there, and a tag."""

    registry: str
    repository: str
    tag: str

    @classmethod
    def parse(cls, reference: str) -> "ImageName":
        """Parse a reference such as `nginx:1.30.2`. A digest after it is ignored."""
        name, _, tag = reference.partition("@")[0].rpartition(":")
        first, _, rest = name.partition("/")
        if rest and ("." in first or ":" in first or first == "localhost"):
            return cls(first, rest, tag)
        return cls(DOCKER_HUB, name if rest else f"library/{name}", tag)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A registry serves manifests itself. Following a redirect would accept them from anywhere, also over plain
    HTTP."""

    def redirect_request(self, *given: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


@dataclass(frozen=True, slots=True)
class RegistryClient:
    """Reads manifests without an account.

    Args:
        addresses: URLs of registries that are not `https://NAME`, by name: mirrors for example.
    """

    addresses: Mapping[str, str] = field(default_factory=dict)

    def digest(self, image: ImageName) -> str:
        """The digest of the manifest that a tag names now, computed from its bytes. Raises RegistryUnavailable."""
        base = self.addresses.get(image.registry) or _default_url(image.registry)
        url = f"{base.rstrip('/')}/v2/{image.repository}/manifests/{image.tag}"
        headers = {"Accept": ", ".join(MANIFEST_TYPES)}
        try:
            body, answered = _get(url, headers)
        except urllib.error.HTTPError as error:
            challenge = error.headers.get("WWW-Authenticate", "")
            if error.code != 401 or not challenge.lower().startswith("bearer "):
                raise RegistryUnavailable(f"{url} answers {error.code}") from error
            body, answered = _get_or_fail(url, {**headers, "Authorization": f"Bearer {_token(challenge)}"})
        digest = f"sha256:{sha256(body).hexdigest()}"
        if answered not in ("", digest):
            raise RegistryUnavailable(f"{url} gives {answered} for a manifest whose digest is {digest}")
        _check_manifest(url, body)
        return digest


def _default_url(registry: str) -> str:
    return DOCKER_HUB_URL if registry == DOCKER_HUB else f"https://{registry}"


def _token(challenge: str) -> str:
    """A token from the service that a registry names. Raises RegistryUnavailable."""
    named = dict(CHALLENGE_PATTERN.findall(challenge))
    realm = named.pop("realm", "")
    asked = {name: named[name] for name in ("service", "scope") if name in named}
    body, _ = _get_or_fail(f"{realm}?{urllib.parse.urlencode(asked)}", {})
    try:
        answer = json.loads(body)
        return str(answer.get("token") or answer["access_token"])
    except (ValueError, KeyError, AttributeError) as error:
        raise RegistryUnavailable(f"{realm} gives no token") from error


def _get_or_fail(url: str, headers: Mapping[str, str]) -> tuple[bytes, str]:
    try:
        return _get(url, headers)
    except urllib.error.HTTPError as error:
        raise RegistryUnavailable(f"{url} answers {error.code}") from error


def _get(url: str, headers: Mapping[str, str]) -> tuple[bytes, str]:
    """A body and the digest that the answer names. Raises HTTPError for an error response, RegistryUnavailable without
    a response."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS):
        raise RegistryUnavailable(f"{url} is not read: only https is, and http of this machine")
    request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310 - the scheme was checked
    try:
        with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
            body: bytes = answer.read(MAX_MANIFEST_BYTES + 1)
            digest = str(answer.headers.get("Docker-Content-Digest", ""))
    except urllib.error.HTTPError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        raise RegistryUnavailable(f"{url} does not answer: {error}") from error
    if len(body) > MAX_MANIFEST_BYTES:
        raise RegistryUnavailable(f"{url} answers more than {MAX_MANIFEST_BYTES} bytes")
    return body, digest


def _check_manifest(url: str, body: bytes) -> None:
    """Raises RegistryUnavailable for anything but a manifest, such as the sign-in page of a network."""
    try:
        named = json.loads(body)
        known = isinstance(named, dict) and named.get("schemaVersion") == 2
    except ValueError:
        known = False
    if not known:
        raise RegistryUnavailable(f"{url} answers no manifest")
