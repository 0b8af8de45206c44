"""The API server of a simulated cluster, over real HTTP: the calls on pods, with roles, quotas, watches and outages."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from vm_bridge.simulators.kubernetes.node import Node, remove_logs
from vm_bridge.simulators.kubernetes.pod_store import ApiError, Pod, PodStore

NAME_PATTERN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LABEL_PATTERN = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
TOKEN = "simulated-token"  # noqa: S105 - of nothing real
NAMESPACE, IMAGE = "lab", "registry.example.org/pilothouse-pod:1"
VERBS = frozenset(("get", "list", "watch", "create", "delete"))
T = TypeVar("T")


class Cluster:
    """A running cluster. Methods may be called from any thread."""

    def __init__(self, images: Mapping[str, Path], verbs: frozenset[str] = VERBS) -> None:
        """`images` is as in `Node`; `verbs` is what the role of the caller allows on pods."""
        self._images, self.verbs = dict(images), verbs
        self.url = ""
        self.away = False
        """Whether every request fails, and every watch ends."""
        self.quota: int | None = None
        self.brief = False
        """Whether the answer to a deletion is a Status in place of the pod."""
        self.busy = 0
        """How many of the next requests are answered by 429."""
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request."""
        self._loop = asyncio.new_event_loop()
        self.store: PodStore
        self.node: Node

    def call(self, work: Callable[[], T]) -> T:
        """Run a function in the cluster's thread."""

        async def run() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(30)

    def pods(self) -> list[Pod]:
        """All pods."""
        return self.call(lambda: [json.loads(json.dumps(pod)) for pod in self.store.pods.values()])

    def end(self, name: str, status: Mapping[str, Any]) -> None:
        """End a pod with this status, as the node does."""
        self.call(lambda: self.node.end(self.store.get(NAMESPACE, name), dict(status)))

    def expire_watches(self) -> None:
        """Forget the history, so that watches end with 410."""
        self.call(self.store.compact)

    def kubeconfig(self, path: Path, namespace: str = NAMESPACE) -> Path:
        """Write a file that KUBECONFIG may name."""
        named = [
            ("clusters", "cluster", {"server": self.url}),
            ("users", "user", {"token": TOKEN}),
            ("contexts", "context", {"cluster": "simulated", "user": "simulated", "namespace": namespace}),
        ]
        lists = {kind: [{"name": "simulated", one: said}] for kind, one, said in named}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "simulated", **lists}
        path.write_text(json.dumps(config))
        return path

    def app(self) -> Starlette:
        """The ASGI application."""
        path = "/api/v1/namespaces/{namespace}/pods"
        return Starlette(
            routes=[
                Route(path, self._answered(self._list), methods=["GET"]),
                Route(path, self._answered(self._create), methods=["POST"]),
                Route(path + "/{name}", self._answered(self._get), methods=["GET"]),
                Route(path + "/{name}", self._answered(self._delete), methods=["DELETE"]),
            ]
        )

    def _answered(self, handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self.requests.append((request.method, request.url.path))
            try:
                self._admit(request)
                return await handle(request)
            except ApiError as error:
                return JSONResponse(error.body(), error.status)

        return answer

    def _admit(self, request: Request) -> None:
        if self.away:
            raise ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
        if self.busy:
            self.busy -= 1
            raise ApiError(429, "TooManyRequests", "Too many requests, please try again later.")
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            raise ApiError(401, "Unauthorized", "Unauthorized")
        watching = request.query_params.get("watch") == "true"
        one = "name" in request.path_params
        verb = {"POST": "create", "DELETE": "delete"}.get(
            request.method, "get" if one else "watch" if watching else "list"
        )
        if verb not in self.verbs:
            namespace = request.path_params["namespace"]
            message = f'pods is forbidden: User "bridge" cannot {verb} resource "pods" in the namespace "{namespace}"'
            raise ApiError(403, "Forbidden", message)

    async def _create(self, request: Request) -> Response:
        given, namespace = await request.json(), request.path_params["namespace"]
        _validate(given)
        name = given["metadata"]["name"]
        if self.quota is not None and len(self.store.pods) >= self.quota:
            limit = f"requested: pods=1, used: pods={len(self.store.pods)}, limited: pods={self.quota}"
            raise ApiError(403, "Forbidden", f'pods "{name}" is forbidden: exceeded quota: lab, {limit}')
        pod = self.store.create(namespace, given)
        created = json.loads(json.dumps(pod))
        self.node.start(pod)
        return JSONResponse(created, 201)

    async def _get(self, request: Request) -> Response:
        return JSONResponse(self.store.get(request.path_params["namespace"], request.path_params["name"]))

    async def _delete(self, request: Request) -> Response:
        options = json.loads(await request.body() or b"{}")
        uid = (options.get("preconditions") or {}).get("uid")
        pod = self.store.delete(request.path_params["namespace"], request.path_params["name"], uid)
        self.node.stop(pod)
        done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return JSONResponse(done if self.brief else pod)

    async def _list(self, request: Request) -> Response:
        query, namespace = request.query_params, request.path_params["namespace"]
        selector = query.get("labelSelector", "")
        if query.get("watch") == "true":
            lines = self._watch(namespace, selector, int(query["resourceVersion"]), float(query["timeoutSeconds"]))
            return StreamingResponse(lines, media_type="application/json")
        first, found = int(query.get("continue", 0)), self.store.select(namespace, selector)
        last = first + int(query.get("limit", 0) or len(found) or 1)
        more = {"continue": str(last)} if last < len(found) else {}
        metadata = {"resourceVersion": str(self.store.version), **more}
        return JSONResponse({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": found[first:last]})

    async def _watch(self, namespace: str, selector: str, since: int, seconds: float) -> AsyncIterator[bytes]:
        end = self._loop.time() + seconds
        while not self.away and (left := end - self._loop.time()) > 0:
            try:
                for version, kind, pod in list(self.store.changes(since, namespace, selector)):
                    since = version
                    yield json.dumps({"type": kind, "object": pod}).encode() + b"\n"
            except ApiError as error:
                yield json.dumps({"type": "ERROR", "object": error.body()}).encode() + b"\n"
                return
            await self.store.wait(min(left, 0.2))


def _validate(pod: Mapping[str, Any]) -> None:
    """Raises ApiError for names and labels that a cluster refuses."""
    name = pod["metadata"].get("name", "")
    if not NAME_PATTERN.fullmatch(name):
        raise ApiError(422, "Invalid", f'Pod "{name}" is invalid: metadata.name: Invalid value')
    for label, value in (pod["metadata"].get("labels") or {}).items():
        if not LABEL_PATTERN.fullmatch(value):
            raise ApiError(422, "Invalid", f'Pod "{name}" is invalid: metadata.labels: Invalid value: {label}={value}')


@contextmanager
def simulated_cluster(images: Mapping[str, Path], verbs: frozenset[str] = VERBS) -> Iterator[Cluster]:
    """A cluster on a free port of this machine while the block runs."""
    cluster, ready = Cluster(images, verbs), threading.Event()
    server = uvicorn.Server(uvicorn.Config(cluster.app(), log_level="warning", lifespan="off"))
    listener = socket.create_server(("127.0.0.1", 0))
    cluster.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def serve() -> None:
        cluster.store = PodStore()
        cluster.node = Node(cluster.store, cluster._images)
        ready.set()
        await server.serve([listener])
        await cluster.node.close()
        remove_logs(cluster.node)

    # Pods end with the thread that starts them.
    thread = threading.Thread(target=lambda: cluster._loop.run_until_complete(serve()), name="cluster", daemon=True)
    thread.start()
    if not ready.wait(30):
        raise RuntimeError("the simulated cluster did not start")
    try:
        yield cluster
    finally:
        cluster.away = True
        server.should_exit = True
        thread.join(30)
        cluster._loop.close()
