"""The pods of a simulated cluster and the history of their changes, as an API server keeps them."""

import asyncio
import copy
import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

Pod = dict[str, Any]
Key = tuple[str, str]
"""Namespace and name."""


class ApiError(Exception):
    """An error with the Status object that the API server answers."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason

    def body(self) -> dict[str, Any]:
        """The Status object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
            "reason": self.reason,
            "code": self.status,
        }


def parse_selector(selector: str) -> dict[str, str]:
    """The labels that an equality selector wants."""
    return dict(part.split("=", 1) for part in selector.split(",") if part)


class PodStore:
    """Of one event loop."""

    def __init__(self) -> None:
        self.pods: dict[Key, Pod] = {}
        self._versions = itertools.count(1000)
        self.version = 999
        self._history: list[tuple[int, str, Pod]] = []
        self._oldest = 0
        self._changed = asyncio.Event()
        self.deleted: list[str] = []
        """Names of pods that were deleted, in order."""

    def create(self, namespace: str, given: Mapping[str, Any]) -> Pod:
        """Raises ApiError."""
        pod = copy.deepcopy(dict(given))
        metadata = pod["metadata"]
        key = namespace, metadata["name"]
        if key in self.pods:
            raise ApiError(409, "AlreadyExists", f'pods "{metadata["name"]}" already exists')
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        metadata |= {"namespace": namespace, "uid": str(uuid.uuid4()), "creationTimestamp": now}
        pod["status"] = {"phase": "Pending", "qosClass": "Guaranteed"}
        self.pods[key] = pod
        self._record("ADDED", pod)
        return pod

    def get(self, namespace: str, name: str) -> Pod:
        """Raises ApiError."""
        if (namespace, name) not in self.pods:
            raise ApiError(404, "NotFound", f'pods "{name}" not found')
        return self.pods[namespace, name]

    def change(self, pod: Pod, status: Mapping[str, Any]) -> None:
        """Replace fields of a pod's status, unless it is gone."""
        key = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if self.pods.get(key, {}).get("metadata", {}).get("uid") == pod["metadata"]["uid"]:
            self.pods[key]["status"] |= copy.deepcopy(dict(status))
            self._record("MODIFIED", self.pods[key])

    def delete(self, namespace: str, name: str, uid: str | None = None) -> Pod:
        """Raises ApiError, also where a precondition names another uid."""
        pod = self.get(namespace, name)
        if uid not in (None, pod["metadata"]["uid"]):
            message = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod['metadata']['uid']}"
            raise ApiError(409, "Conflict", message)
        del self.pods[namespace, name]
        self.deleted.append(name)
        self._record("DELETED", pod)
        return pod

    def select(self, namespace: str, selector: str) -> list[Pod]:
        """The pods of a namespace with these labels, by name."""
        return [pod for key, pod in sorted(self.pods.items()) if key[0] == namespace and _matches(pod, selector)]

    def compact(self) -> None:
        """Forget all changes so far: watches from before end with 410."""
        self._history.clear()
        self._oldest = self.version + 1
        self.version = self._oldest
        self._wake()

    def changes(self, since: int, namespace: str, selector: str) -> Iterator[tuple[int, str, Pod]]:
        """Changes after a version. Raises ApiError 410 where some of them are forgotten."""
        if since < self._oldest:
            raise ApiError(410, "Expired", f"too old resource version: {since} ({self._oldest})")
        for version, kind, pod in self._history:
            if version > since and pod["metadata"]["namespace"] == namespace and _matches(pod, selector):
                yield version, kind, pod

    async def wait(self, seconds: float) -> None:
        """Returns after a change, or after this time."""
        changed = self._changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            pass

    def _record(self, kind: str, pod: Pod) -> None:
        self.version = max(next(self._versions), self.version + 1)
        pod["metadata"]["resourceVersion"] = str(self.version)
        self._history.append((self.version, kind, copy.deepcopy(pod)))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _matches(pod: Pod, selector: str) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return all(labels.get(name) == value for name, value in parse_selector(selector).items())


PodChange = Callable[[Pod, Mapping[str, Any]], None]
