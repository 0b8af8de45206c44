"""The first process of a pod: starts the guest, and leads connections between it and the bridge of this pod:
`python -m vm_bridge.pod.init`.

Programs inside are of the same user. They cannot inspect this process or the guest, and cannot reach the guest's
sockets, whose names are removed.
"""

import argparse
import asyncio
import ctypes
import mmap
import os
import resource
import secrets
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from vm_bridge.guest.common import handshake
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.guest.common.wire import GREETING
from vm_bridge.guest.linux import main as guest
from vm_bridge.pod import PORT, SECRET_VARIABLE
from vm_bridge.pod.frame_sender import relay_calls
from vm_bridge.virtual.multiplexer import Multiplexer, ProtocolViolation

SOCKETS, DISPLAY, EGRESS = Path("/run/pilothouse"), Path("/run/vnc"), Path("/run/egress")
FRAMES_BYTES = 2560 * 1600 * 4 * 5
"""Memory for five frames of the largest screen. Only written pages use memory."""
LEASH_SECONDS = 60
"""How long a pod outlives its bridge, unless the bridge comes back."""
HANDSHAKE_SECONDS = 10.0
MAX_HANDSHAKES = 8
PR_SET_DUMPABLE = 4


def main() -> None:
    """Run until the guest ends, and the pod with it."""
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.pod.init", description=__doc__)
    parser.add_argument("--listen", type=int, help="descriptor of a socket that listens already (port 8016)")
    listen: int | None = parser.parse_args().listen
    ctypes.CDLL("libc.so.6").prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    secret = os.environ.pop(SECRET_VARIABLE)
    # The kernel ignores SIGTERM for a first process without a handler, and the cluster would wait.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    make_folders()
    memory = os.memfd_create("frames")
    os.ftruncate(memory, FRAMES_BYTES)
    sockets = {name: HiddenSocket(SOCKETS / f"{name}.sock") for name in ("guest", "tunnel")}
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        run_guest(sockets["guest"].listener, sockets["tunnel"].listener, memory)
    for each in sockets.values():
        each.listener.close()
    threading.Thread(target=exit_after, args=(child,), daemon=True).start()
    listener = socket.socket(fileno=listen) if listen is not None else listen_everywhere()
    with mmap.mmap(memory, FRAMES_BYTES, prot=mmap.PROT_READ) as frames:
        asyncio.run(PodServer(sockets["guest"], sockets["tunnel"], secret, memoryview(frames)).serve(listener))


def make_folders() -> None:
    """The folders that the guest and its programs expect."""
    runtime = Path(os.environ["XDG_RUNTIME_DIR"])
    for path, mode in ((runtime, 0o700), (Path("/tmp/.X11-unix"), 0o1777)):  # noqa: S108 - in a sandbox of its own
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(mode)
    for path in (SOCKETS, DISPLAY, EGRESS):
        path.mkdir(mode=0o700, exist_ok=True)
    (EGRESS / "prefix").touch()


def run_guest(listener: socket.socket, tunnel: socket.socket, memory: int) -> None:
    """Become the guest."""
    options = {
        "listen": os.dup(listener.fileno()),
        "tunnel": os.dup(tunnel.fileno()),
        "memory": memory,
        "processes": resource.getrlimit(resource.RLIMIT_NPROC)[1],
        "leash": LEASH_SECONDS,
    }
    sys.argv[1:] = [f"--{name}={value}" for name, value in options.items()]
    guest.main()


def exit_after(child: int) -> None:
    """End this process when the guest has ended, and take in orphans until then."""
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def listen_everywhere() -> socket.socket:
    """A listener at every address of the pod, of both versions of IP where there are both."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", PORT))


class HiddenSocket:
    """A listening unix socket without a name: only this process can connect to it, through a descriptor of its
    inode."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self._inode = os.open(path, os.O_PATH | os.O_CLOEXEC)
        path.unlink()

    @property
    def address(self) -> str:
        """Where this process connects to it."""
        return f"/proc/self/fd/{self._inode}"


class PodServer:
    """Serves one bridge at a time, the latest that knows the secret: an earlier connection may be one whose other end
    has gone without a word."""

    def __init__(self, guest_socket: HiddenSocket, tunnel: HiddenSocket, secret: str, memory: memoryview) -> None:
        self._guest, self._tunnel, self._secret, self._memory = guest_socket, tunnel, secret, memory
        self._channels: Multiplexer | None = None
        self._handshakes = asyncio.Semaphore(MAX_HANDSHAKES)
        self._relays: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve until cancelled."""
        proxy = await asyncio.start_unix_server(self._lead_out, EGRESS / "proxy.sock", limit=CHUNK)
        server = await asyncio.start_server(self._came, sock=listener, limit=CHUNK)
        async with proxy, server:
            await asyncio.gather(proxy.serve_forever(), server.serve_forever())

    async def _lead_out(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._channels is None:
            writer.close()
        else:
            self._channels.forward("proxy", (reader, writer))

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._handshakes.locked():
            return writer.close()
        async with self._handshakes:
            if not await self._knows_secret(reader, writer):
                return writer.close()
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        before = self._channels
        dials = {"guest": self._dial_guest, "tunnel": self._dial_tunnel, "rfb": dial_display}
        self._channels = channels = Multiplexer((reader, writer), dials, first=1)
        if before is not None:
            before.close()
        with suppress(ProtocolViolation):
            await channels.run()
        channels.close()
        if self._channels is channels:
            self._channels = None

    async def _knows_secret(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """The guest's side of `vm_bridge.guest.common.handshake`."""
        ours = secrets.token_bytes(handshake.NONCE)
        writer.write(handshake.GREETING + ours)
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                theirs = await reader.readexactly(handshake.NONCE)
                shown = await reader.readexactly(handshake.PROOF)
        except (TimeoutError, asyncio.IncompleteReadError, OSError):
            return False
        if not handshake.proofs_equal(shown, handshake.compute_proof(self._secret, handshake.HOST, ours, theirs)):
            return False
        writer.write(handshake.compute_proof(self._secret, handshake.GUEST, ours, theirs))
        return True

    async def _dial_guest(self) -> StreamPair:
        """The guest behind a relay that sends pictures."""
        end = socket.socket(socket.AF_UNIX)
        await asyncio.to_thread(receive_greeting, end, self._guest.address)
        inner = await asyncio.open_unix_connection(sock=end, limit=CHUNK)
        ours, theirs = socket.socketpair()
        host = await asyncio.open_unix_connection(sock=ours, limit=CHUNK)
        task = asyncio.create_task(relay_calls(host, inner, self._memory))
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)
        return await asyncio.open_unix_connection(sock=theirs, limit=CHUNK)

    async def _dial_tunnel(self) -> StreamPair:
        return await asyncio.open_unix_connection(self._tunnel.address, limit=CHUNK)


async def dial_display() -> StreamPair:
    """The X server's socket for viewers. Raises OSError before a desktop has started."""
    return await asyncio.open_unix_connection(DISPLAY / "rfb.sock", limit=CHUNK)


def receive_greeting(end: socket.socket, address: str) -> None:
    """Connect to the guest and take its greeting; the memory for frames that comes with it is mapped already."""
    end.connect(address)
    _, descriptors, _, _ = socket.recv_fds(end, len(GREETING), 1)
    for descriptor in descriptors:
        os.close(descriptor)


if __name__ == "__main__":
    main()
