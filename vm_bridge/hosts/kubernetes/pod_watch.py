"""Follows the pods of one bridge host, in a thread of its own: what starts, and what the cluster ends."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from vm_bridge.errors import BridgeError
from vm_bridge.hosts.kubernetes.pod_api import PodApi, PodEvent, WatchExpired
from vm_bridge.hosts.kubernetes.pod_spec import PodState, read_pod

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 30.0
"""Pauses while the API server does not answer: each is twice the one before."""
Followed = Callable[[PodState | None], None]
"""Called in the event loop with each new state of one pod; None where it is no more."""


class PodWatch:
    """A list, then the changes since it, again and again. An outage of the API server only delays news."""

    def __init__(self, api: PodApi) -> None:
        self._api = api
        self._followed: dict[str, Followed] = {}
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._known: set[str] = set()
        """Names of the pods that were seen and not deleted since. Of the thread alone, as is the next."""
        self._pause = FIRST_PAUSE_SECONDS
        self._thread = threading.Thread(target=self._run, name="pod-watch", daemon=True)
        self._thread.start()

    def follow(self, name: str, followed: Followed) -> None:
        """Report the states of a pod from now on, until `forget`."""
        self._followed[name] = followed

    def forget(self, name: str) -> None:
        """Report nothing of a pod any more. Idempotent."""
        self._followed.pop(name, None)

    def close(self) -> None:
        """Stop. The thread ends with its current request."""
        self._stopping.set()
        self._followed.clear()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._list_and_watch()
            except WatchExpired:
                logger.info("the watch of pods expired; they are listed again")
            except BridgeError as error:
                logger.warning("pods cannot be watched: %s", error)
                self._rest()
            except Exception:  # nothing else would begin the watch again
                logger.exception("a watch of pods failed")
                self._rest()

    def _rest(self) -> None:
        self._stopping.wait(self._pause)
        self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS)

    def _list_and_watch(self) -> None:
        """Until a watch fails. Raises WatchExpired, ClusterUnavailable."""
        pods, version = self._api.list()
        listed = {state.name: state for state in map(read_pod, pods)}
        for name in self._known - listed.keys():
            self._report(name, None)
        for name, state in listed.items():
            self._report(name, state)
        self._known = set(listed)
        while not self._stopping.is_set():
            for event in self._api.changes(version):
                self._pause = FIRST_PAUSE_SECONDS
                version = event.pod["metadata"]["resourceVersion"]
                self._take(event)
                if self._stopping.is_set():
                    return

    def _take(self, event: PodEvent) -> None:
        if event.kind == "BOOKMARK":
            return
        state = read_pod(event.pod)
        if event.kind == "DELETED":
            self._known.discard(state.name)
            self._report(state.name, None)
        else:
            self._known.add(state.name)
            self._report(state.name, state)

    def _report(self, name: str, state: PodState | None) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            self._loop.call_soon_threadsafe(self._tell, name, state)

    def _tell(self, name: str, state: PodState | None) -> None:
        if name in self._followed:
            self._followed[name](state)
