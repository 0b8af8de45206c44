"""Makes and removes the pods of one bridge host."""

import asyncio
import logging
import secrets
import shutil
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.hosts.kubernetes.pod import Pod, PodRecord, PodStart
from vm_bridge.hosts.kubernetes.pod_api import PodApi
from vm_bridge.hosts.kubernetes.pod_image import INSIDE
from vm_bridge.hosts.kubernetes.pod_spec import IMAGE, PodSettings, pod_manifest
from vm_bridge.hosts.kubernetes.pod_watch import PodWatch
from vm_bridge.hosts.process_sandbox import ADOPT_SECONDS, PreparedImage, make_folder

logger = logging.getLogger(__name__)

PREFIX = "pilothouse-"
THREADS = 8
"""Most calls of the cluster's API at once, beside the watch."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 30.0
"""Pauses between tries to remove pods while the API does not answer: each is twice the one before."""
CLOSE_SECONDS = 20.0
T = TypeVar("T")


class PodFactory:
    """See `vm_bridge.hosts.process_sandbox.ProcessSandboxFactory`.

    `owned` has the names of all pods that are in use or being made. Whatever else carries this host's labels is
    removed, as soon as the API answers.
    """

    images: Mapping[str, str] = {IMAGE: INSIDE}
    apart = "pods"

    def __init__(self, settings: PodSettings, make_api: Callable[[PodSettings], PodApi] = PodApi) -> None:
        self._settings, self._make_api = settings, make_api
        self.owned: set[str] = set()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pods")
        self._api: PodApi | None = None
        self._watch: PodWatch | None = None
        self._removals: set[asyncio.Task[None]] = set()
        self._sweeping: asyncio.Task[None] | None = None

    async def spawn(self, image: PreparedImage, folder: Path) -> Pod:
        """Create a pod and connect to its guest. Raises MachineGone, PodImageUnavailable, ClusterFull,
        ClusterUnavailable."""
        name, secret = f"{PREFIX}{folder.name}-{secrets.token_hex(4)}", secrets.token_urlsafe(32)
        api, watch = await self._opened()
        start = PodStart(name)
        watch.follow(name, start.take)
        self.owned.add(name)
        creating = asyncio.ensure_future(
            self._call(api.create, pod_manifest(self._settings, name, secret, image.manifest))
        )
        try:
            make_folder(folder, None)
            async with asyncio.timeout(self._settings.start_seconds):
                created = await asyncio.shield(creating)
                state = await start.running()
                record = PodRecord(name=name, uid=created["metadata"]["uid"], address=state.address, secret=secret)
                pod = await self._connected(start, folder, record, image.home)
        except BaseException as error:
            watch.forget(name)
            self._in_background(self._remove_created(name, creating))
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, TimeoutError):
                silent = MachineGone(f"the pod {name} did not start within {self._settings.start_seconds:g} s")
                raise (start.problem or silent) from error
            if isinstance(error, OSError):
                raise MachineGone(str(error)) from error
            raise
        watch.follow(name, pod.take)
        return pod

    async def adopt(self, folder: Path) -> Pod:
        """See `Pod.adopt`. Needs no API."""
        pod = await Pod.adopt(folder, self.remove, ADOPT_SECONDS)
        self.owned.add(pod.record.name)
        with suppress(BridgeError):  # the pod works without news from the cluster
            _, watch = await self._opened()
            watch.follow(pod.record.name, pod.take)
        return pod

    def end(self, folder: Path) -> None:
        """Forget what an earlier bridge left there; `sweep` removes its pod."""
        shutil.rmtree(folder, ignore_errors=True)

    def remove(self, record: PodRecord) -> None:
        """Delete a pod in the background."""
        if self._watch is not None:
            self._watch.forget(record.name)
        self._in_background(self._delete(record.name, record.uid))

    def sweep(self) -> None:
        """Remove every pod of this host that is not owned, in the background, until it was done once."""
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.create_task(self._sweep_until_done())

    async def close(self) -> None:
        """Wait for removals that are under way, within a bound."""
        if self._removals:
            await asyncio.wait(self._removals, timeout=CLOSE_SECONDS)
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._watch is not None:
            self._watch.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _connected(self, start: PodStart, folder: Path, record: PodRecord, home: str) -> Pod:
        """Connect to a pod that runs, unless it ends before. Raises what `spawn` raises."""
        seconds = self._settings.start_seconds
        connecting = asyncio.ensure_future(Pod.started(folder, record, self.remove, home, seconds))
        ending = asyncio.ensure_future(start.ended())
        try:
            await asyncio.wait((connecting, ending), return_when=asyncio.FIRST_COMPLETED)
            if connecting.done():
                return connecting.result()
            raise ending.result()
        finally:
            connecting.cancel()
            ending.cancel()
            await asyncio.wait((connecting, ending))

    async def _opened(self) -> tuple[PodApi, PodWatch]:
        """Raises ClusterUnavailable where the client is missing or not configured."""
        if self._api is None:
            self._api = await self._call(self._make_api, self._settings)
        if self._watch is None:
            self._watch = PodWatch(self._api)
        return self._api, self._watch

    async def _remove_created(self, name: str, creating: "asyncio.Future[dict[str, Any]]") -> None:
        """Remove a pod whose start failed, also one whose creation was under way or got no answer."""
        with suppress(BridgeError):
            await creating
        await self._delete(name, "")

    async def _delete(self, name: str, uid: str) -> None:
        """Delete one pod; where that fails it is swept later."""
        self.owned.discard(name)
        try:
            api, _ = await self._opened()
            if not uid:
                found = await self._call(api.read, name)
                uid = "" if found is None else found["metadata"]["uid"]
            if uid:
                await self._call(api.delete, name, uid)
        except BridgeError as error:
            logger.warning("the pod %s is removed later: %s", name, error)
            self.sweep()

    async def _sweep_until_done(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                api, _ = await self._opened()
                for pod in (await self._call(api.list))[0]:
                    if pod["metadata"]["name"] not in self.owned:
                        await self._call(api.delete, pod["metadata"]["name"], pod["metadata"]["uid"])
            except BridgeError as error:
                logger.warning("unused pods may remain: %s", error)
            else:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)

    async def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
