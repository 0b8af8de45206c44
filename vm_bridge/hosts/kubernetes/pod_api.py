"""The calls of the cluster's API that a bridge makes, through the official client. They block; each has a bound."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from urllib3.exceptions import HTTPError

from vm_bridge.errors import BridgeError, ClusterFull, ClusterUnavailable, PodImageUnavailable
from vm_bridge.hosts.kubernetes.pod_spec import PodSettings, is_own

CONNECT_SECONDS, READ_SECONDS = 5.0, 15.0
"""Longest that connecting takes, and each silence (seconds)."""
WATCH_SECONDS = 60
"""The API server ends a watch after this time."""
PAGE = 500
NOT_FOUND, CONFLICT, GONE, TOO_MANY = 404, 409, 410, 429
INVALID = (400, 422)
INSTALL = "pip install -r vm_bridge/hosts/kubernetes/requirements.lock"
T = TypeVar("T")


class WatchExpired(Exception):
    """The API server no longer has the changes since that version: list again."""


class PodEvent(NamedTuple):
    """One change of a watch."""

    kind: str
    """ADDED, MODIFIED, DELETED or BOOKMARK."""
    pod: dict[str, Any]


class PodApi:
    """The pods of one bridge host. Calls come from any thread, and raise NoMachine's children with stable codes."""

    def __init__(self, settings: PodSettings) -> None:
        """Reads the service account of the bridge's own pod, else KUBECONFIG. Raises ClusterUnavailable."""
        try:
            from kubernetes import client, config, watch
        except ModuleNotFoundError as error:
            raise ClusterUnavailable(f"the client of Kubernetes is not installed here: {INSTALL}") from error
        self._settings = settings
        configuration = client.Configuration()
        try:
            config.load_incluster_config(client_configuration=configuration)
        except config.ConfigException:
            try:
                config.load_kube_config(os.environ.get("KUBECONFIG"), client_configuration=configuration)
            except config.ConfigException as error:
                raise ClusterUnavailable(f"no cluster is configured: {error}") from error
        configuration.retries = False
        self._client = client.ApiClient(configuration)
        self._api = client.CoreV1Api(self._client)
        self._watch_type = watch.Watch
        self._errors = (client.exceptions.ApiException, HTTPError, OSError, ValueError)
        """ValueError: an answer that is no object of the API."""

    def create(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Create a pod. Raises ClusterFull where the namespace's quota is used up, PodImageUnavailable where the API
        server refuses the pod's description, ClusterUnavailable otherwise."""
        return self._plain(
            self._asked(
                lambda: self._api.create_namespaced_pod(
                    self._settings.namespace, dict(manifest), _request_timeout=(CONNECT_SECONDS, READ_SECONDS)
                )
            )
        )

    def delete(self, name: str, uid: str) -> None:
        """Delete a pod, unless another one has its name. Idempotent. Raises ClusterUnavailable."""
        body = {"preconditions": {"uid": uid}}
        try:
            self._api.delete_namespaced_pod(
                name, self._settings.namespace, body=body, _request_timeout=(CONNECT_SECONDS, READ_SECONDS)
            )
        except ValueError:
            return  # the answer to a deletion may be a Status, which the client cannot read as a pod
        except self._errors as error:
            if getattr(error, "status", None) not in (NOT_FOUND, CONFLICT):
                raise explain(error) from error

    def read(self, name: str) -> dict[str, Any] | None:
        """A pod of this host, or None where there is none of this name. Raises ClusterUnavailable."""
        try:
            found = self._api.read_namespaced_pod(
                name, self._settings.namespace, _request_timeout=(CONNECT_SECONDS, READ_SECONDS)
            )
        except self._errors as error:
            if getattr(error, "status", None) == NOT_FOUND:
                return None
            raise explain(error) from error
        pod = self._plain(found)
        return pod if is_own(pod, self._settings) else None

    def list(self) -> tuple[list[dict[str, Any]], str]:
        """The pods of this host, and the version from which a watch continues. Raises ClusterUnavailable."""
        pods: list[dict[str, Any]] = []
        more: str | None = None
        while True:
            page = self._plain(self._asked(lambda more=more: self._list_page(more)))  # type: ignore[misc]
            pods += [pod for pod in page.get("items") or () if is_own(pod, self._settings)]
            more = page["metadata"].get("continue")
            if not more:
                return pods, page["metadata"]["resourceVersion"]

    def changes(self, version: str) -> Iterator[PodEvent]:
        """Changes since a version, until the API server ends the watch. Raises WatchExpired, ClusterUnavailable."""
        stream = self._watch_type().stream(
            self._api.list_namespaced_pod,
            self._settings.namespace,
            label_selector=self._settings.selector,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=WATCH_SECONDS,
            _request_timeout=(CONNECT_SECONDS, WATCH_SECONDS + READ_SECONDS),
        )
        try:
            for event in stream:
                yield PodEvent(event["type"], event["raw_object"])
        except self._errors as error:
            if getattr(error, "status", None) == GONE:
                raise WatchExpired(str(error)) from error
            raise explain(error) from error

    def _list_page(self, more: str | None) -> Any:
        return self._api.list_namespaced_pod(
            self._settings.namespace,
            label_selector=self._settings.selector,
            limit=PAGE,
            **({"_continue": more} if more else {}),
            _request_timeout=(CONNECT_SECONDS, READ_SECONDS),
        )

    def _asked(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except self._errors as error:
            raise explain(error) from error

    def _plain(self, answer: Any) -> dict[str, Any]:
        """The JSON of an answer."""
        return dict(self._client.sanitize_for_serialization(answer))


def explain(error: Exception) -> BridgeError:
    """The bridge's error for an answer of the API server, or for none."""
    status, message = getattr(error, "status", None), _message_of(error)
    if status is None:
        return ClusterUnavailable(f"the cluster's API does not answer as it should: {type(error).__name__}")
    if status == TOO_MANY:
        return ClusterUnavailable("the cluster's API has too many requests now")
    if status == 403 and "exceeded quota" in message:
        return ClusterFull(message)
    if status in INVALID:
        return PodImageUnavailable(f"the cluster refuses the pod: {message}")
    return ClusterUnavailable(f"the cluster's API answered {status}: {message}")


def _message_of(error: Exception) -> str:
    """The message of the Status object in an error's body."""
    try:
        said = json.loads(getattr(error, "body", None) or "{}").get("message")
    except (ValueError, AttributeError):
        said = None
    return str(said or getattr(error, "reason", "") or error)[:300]
