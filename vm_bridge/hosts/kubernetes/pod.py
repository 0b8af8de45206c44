"""One pod as a local host drives it: the same guest, behind one connection in place of sockets."""

import asyncio
import logging
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import ValidationError

from protocol.base import FrozenModel
from vm_bridge.drivers.computer.frames import GuestScreen
from vm_bridge.drivers.computer.guest_link import GuestLink, GuestState, prove_secret
from vm_bridge.drivers.computer.remote_frames import FrameCanvas
from vm_bridge.errors import BridgeError, MachineGone, PodImageUnavailable
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.hosts.guest_channel import GuestChannel
from vm_bridge.hosts.kubernetes.pod_spec import PodState
from vm_bridge.hosts.process_sandbox import REMOTE_STATE_FILE, GuestTree, write_atomic
from vm_bridge.isolation.cgroups import ControlGroups
from vm_bridge.pod import PORT
from vm_bridge.sandbox import Usage

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.1
UNBOUNDED = ("pids",)
"""What a pod's description cannot bound: the number of processes is a setting of the node."""
Remove = Callable[["PodRecord"], None]
"""Deletes a pod, now or as soon as the cluster's API answers. Does not wait."""


class PodRecord(FrozenModel):
    """What a later bridge must know of a pod to adopt it."""

    name: str
    uid: str
    address: str
    secret: str


def read_record(folder: Path) -> PodRecord:
    """What an earlier bridge wrote down. Raises MachineGone."""
    try:
        return PodRecord.model_validate_json((folder / REMOTE_STATE_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error


class PodChannel(GuestChannel):
    """The connection to the first process of a pod."""

    sockets: ClassVar[Mapping[str, str]] = {
        "guest": "guest.sock",
        "tunnel": "tunnel.sock",
        "rfb": "display/rfb.sock",
    }

    def __init__(self, folder: Path, address: str, secret: str) -> None:
        super().__init__(folder)
        self._address, self._secret = address, secret

    async def _open_line(self) -> StreamPair:
        while True:
            writer: asyncio.StreamWriter | None = None
            try:
                reader, writer = await asyncio.open_connection(self._address, PORT, limit=CHUNK)
                await prove_secret(reader, writer, self._secret)
            except (asyncio.IncompleteReadError, OSError):  # it does not listen yet, or is busy with others
                if writer is not None:
                    writer.close()
            except asyncio.CancelledError:
                if writer is not None:
                    writer.close()
                raise
            else:
                return reader, writer
            await asyncio.sleep(RETRY_SECONDS)

    def _silence(self) -> str:
        return f"the pod at {self._address} does not answer on port {PORT}: does a network policy let the bridge in?"


class Pod(GuestTree):
    """Its folder has the sockets that lead into the pod. The cluster ends what is inside."""

    def __init__(self, folder: Path, record: PodRecord, channel: PodChannel, link: GuestLink, remove: Remove) -> None:
        super().__init__(folder, ControlGroups((), UNBOUNDED), link, FrameCanvas(0, 0))
        self.record = record
        self._channel, self._remove = channel, remove

    @classmethod
    async def reach(cls, folder: Path, record: PodRecord, remove: Remove, seconds: float) -> tuple[Self, GuestState]:
        """Connect to a pod that runs. Returns what its guest said first. Raises MachineGone after `seconds`."""
        channel = PodChannel(folder, record.address, record.secret)
        link: GuestLink | None = None
        try:
            await channel.open()
            await channel.connect(seconds)
            end = socket.socket(socket.AF_UNIX)
            end.setblocking(False)
            await asyncio.get_running_loop().sock_connect(end, str(folder / "guest.sock"))
            link = await GuestLink.open(end)
            greeting = await link.ready(seconds)
        except BaseException as error:
            if link is not None:
                link.close()
            await channel.close()
            if isinstance(error, OSError):
                raise MachineGone(str(error)) from error
            raise
        return cls(folder, record, channel, link, remove), greeting

    @classmethod
    async def started(cls, folder: Path, record: PodRecord, remove: Remove, home: str, seconds: float) -> Self:
        """Connect to a new pod. Raises PodImageUnavailable where its image is of another version of Pilothouse."""
        pod, greeting = await cls.reach(folder, record, remove, seconds)
        if greeting.home != home:
            await pod.hang_up()
            raise PodImageUnavailable("the image of pods is of another version of Pilothouse: build and push it again")
        write_atomic(folder / REMOTE_STATE_FILE, record.model_dump_json())
        return pod

    @classmethod
    async def adopt(cls, folder: Path, remove: Remove, seconds: float) -> Self:
        """The pod that an earlier bridge left. Raises MachineGone when it has ended."""
        pod, greeting = await cls.reach(folder, read_record(folder), remove, seconds)
        pod.link.pristine = False
        pod.fence = greeting.fence
        if greeting.width:
            pod._paint(greeting.width, greeting.height)
            pod.screen = GuestScreen(pod._memory, greeting.width, greeting.height)
        return pod

    async def begin(self, *, fence: int, width: int, height: int) -> None:
        self._paint(width, height)
        await super().begin(fence=fence, width=width, height=height)

    async def usage(self) -> Usage:
        return Usage()  # what the cluster measures is its operator's to see

    def take(self, state: PodState | None) -> None:
        """Take a new state from the cluster. A pod that the cluster ends is given up at once."""
        failure = MachineGone(f"the pod {self.record.name} was deleted") if state is None else state.failure
        if failure is not None and (state is None or state.final) and not self.link.gone:
            logger.warning("%s", failure)
            self.link.close()

    async def hang_up(self) -> None:
        """Leave the pod as it is."""
        self.link.close()
        await self._channel.close()

    async def _finish(self) -> None:
        await self._channel.close()
        self._remove(self.record)
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    def _paint(self, width: int, height: int) -> None:
        canvas = FrameCanvas(width, height)
        self._memory = canvas
        self.link.paint = canvas.paint


class PodStart:
    """The states of a pod that is being started."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._state: PodState | None = None
        self._seen = False
        self._changed = asyncio.Event()

    def take(self, state: PodState | None) -> None:
        """Take a new state from the cluster."""
        self._state, self._seen = state, self._seen or state is not None
        self._changed.set()

    @property
    def problem(self) -> BridgeError | None:
        """What keeps it from starting at present, as the cluster says."""
        return None if self._state is None else self._state.failure

    async def running(self) -> PodState:
        """Returns when its container runs. Raises its failure when waiting longer is in vain."""
        while True:
            self._changed.clear()
            if (failure := self._final_failure()) is not None:
                raise failure
            if self._state is not None and self._state.running and self._state.address:
                return self._state
            await self._changed.wait()

    async def ended(self) -> BridgeError:
        """Returns its failure when waiting longer is in vain."""
        while True:
            self._changed.clear()
            if (failure := self._final_failure()) is not None:
                return failure
            await self._changed.wait()

    def _final_failure(self) -> BridgeError | None:
        if self._state is None:
            return MachineGone(f"the pod {self._name} was deleted as it started") if self._seen else None
        return self._state.failure if self._state.final else None
