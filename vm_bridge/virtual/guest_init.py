"""The first process of a virtual machine: starts the sandbox and its guest, and leads connections between them and the
host: `python -m vm_bridge.virtual.guest_init`.

What runs here is what runs on a host without virtual machines (`vm_bridge.isolation.bubblewrap`). The virtual machine
around it is the border.
"""

import asyncio
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from vm_bridge.guest.common.relay import CHUNK, StreamPair, listen_on_unix_socket
from vm_bridge.guest.common.wire import GREETING
from vm_bridge.isolation.bubblewrap import SandboxConfig, bubblewrap_command
from vm_bridge.virtual.handshake import PORT_NAME, guest_handshake
from vm_bridge.virtual.multiplexer import Multiplexer, ProtocolViolation

IMAGE, RUNTIME = Path("/image"), Path("/run/pilothouse")
USER = 0x6F000000
"""Who the sandbox is, outside of itself."""
PROCESSES, LEASH_SECONDS = 768, 60
MEMORY_VENDOR, MEMORY_DEVICE = "0x1af4", "0x1110"
"""The device whose second region is the memory for frames (ivshmem)."""
ADD_ENTROPY, RESEED = 0x40085203, 0x5207
"""Requests to the kernel's random numbers."""
POWER_OFF = 0x4321FEDC


def main() -> None:
    """Until the sandbox ends, and the machine with it."""
    RUNTIME.mkdir(mode=0o711)
    for name, mode in (("egress", 0o711), ("display", 0o700)):
        (RUNTIME / name).mkdir(mode=mode)
    os.chown(RUNTIME / "display", USER, USER)
    (RUNTIME / "egress" / "prefix").touch()
    info_reader, info_writer = os.pipe()
    guest = start_sandbox(info_writer)
    threading.Thread(target=power_off_after, args=(guest, info_reader), daemon=True).start()
    try:
        asyncio.run(serve_hosts(host_port_path()))
    finally:
        guest.kill()


def power_off_after(guest: "subprocess.Popen[bytes]", info_reader: int) -> None:
    """Switch the machine off when the sandbox has ended, whatever the other threads are doing; what it tells of its
    first process on `told` is nobody's business here, but somebody must listen."""
    guest.wait()
    os.close(info_reader)
    ctypes.CDLL(None).reboot(POWER_OFF)


def start_sandbox(info_writer: int) -> "subprocess.Popen[bytes]":
    """The sandbox, with all it inherits; `tells` is its own from now on."""
    listeners = {name: listen_on_unix_socket(RUNTIME / f"{name}.sock") for name in ("guest", "tunnel")}
    memory = os.open(frame_memory_path(), os.O_RDWR | os.O_CLOEXEC)
    given = {"listen": listeners["guest"].fileno(), "tunnel": listeners["tunnel"].fileno(), "memory": memory}
    arguments = given | {"processes": PROCESSES, "leash": LEASH_SECONDS}
    config = SandboxConfig(
        image=IMAGE, display=RUNTIME / "display", egress=RUNTIME / "egress", user=USER, info=info_writer
    )
    process = subprocess.Popen(
        bubblewrap_command(config, [f"--{name}={value}" for name, value in arguments.items()]),
        pass_fds=(*given.values(), info_writer),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    for descriptor in (info_writer, memory):
        os.close(descriptor)
    for listener in listeners.values():
        listener.close()
    return process


def frame_memory_path() -> Path:
    """The memory for frames, as a file. Raises FileNotFoundError."""
    for device in sorted(Path("/sys/bus/pci/devices").iterdir()):
        kind = tuple((device / name).read_text().strip() for name in ("vendor", "device"))
        if kind == (MEMORY_VENDOR, MEMORY_DEVICE):
            combined = device / "resource2_wc"
            return combined if combined.exists() else device / "resource2"
    raise FileNotFoundError("the machine has no memory for frames")


def host_port_path() -> Path:
    """The line to the host, as a file. Raises FileNotFoundError."""
    for port in sorted(Path("/sys/class/virtio-ports").iterdir()):
        if (port / "name").read_text().strip() == PORT_NAME:
            return Path("/dev", port.name)
    raise FileNotFoundError("the machine has no line to its host")


async def serve_hosts(path: Path) -> None:
    """One host after another."""
    dials = {
        "guest": dial_guest,
        "tunnel": lambda: asyncio.open_unix_connection(RUNTIME / "tunnel.sock", limit=CHUNK),
        "rfb": lambda: asyncio.open_unix_connection(RUNTIME / "display" / "rfb.sock", limit=CHUNK),
    }
    now: Multiplexer | None = None

    async def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if now is None:
            writer.close()
        else:
            now.forward("proxy", (reader, writer))

    proxy = RUNTIME / "egress" / "proxy.sock"
    async with await asyncio.start_unix_server(came, proxy, limit=CHUNK):
        proxy.chmod(0o666)
        with path.open("r+b", buffering=0) as port:
            while True:
                await wait_for_host(port.fileno())
                line = await open_port(port.fileno())
                with suppress(asyncio.IncompleteReadError):  # it left
                    while True:
                        apply_host_data(*await guest_handshake(*line))
                        now = Multiplexer(line, dials, first=1)
                        with suppress(ProtocolViolation):  # another one has come
                            await now.run()
                        now = None
                # What was not taken is of no use to the next one, and would keep this end open.
                line[1].transport.abort()


async def wait_for_host(port: int) -> None:
    """Returns when a host holds the other end: the kernel tells of that as a change, so nothing is asked again."""
    changed = asyncio.Event()
    with select.epoll() as changes:
        changes.register(port, select.EPOLLIN | select.EPOLLHUP | select.EPOLLET)
        loop = asyncio.get_running_loop()
        loop.add_reader(changes.fileno(), changed.set)
        try:
            while _is_disconnected(port):
                changes.poll(0)
                changed.clear()
                if _is_disconnected(port):
                    await changed.wait()
        finally:
            loop.remove_reader(changes.fileno())


def _is_disconnected(port: int) -> bool:
    asked = select.poll()
    asked.register(port, select.POLLIN)
    return any(events & select.POLLHUP for _, events in asked.poll(0))


async def open_port(port: int) -> StreamPair:
    """The port as a connection; it is closed with it."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=CHUNK)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(port), "rb", 0))
    writes = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, protocol = await loop.connect_write_pipe(lambda: writes, os.fdopen(os.dup(port), "wb", 0))
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


def apply_host_data(now: float, randomness: bytes) -> None:
    """Take the host's time and randomness: this may be a state of long ago, and shared with other machines."""
    time.clock_settime(time.CLOCK_REALTIME, now)
    with open("/dev/urandom", "wb", 0) as numbers:
        fcntl.ioctl(numbers, ADD_ENTROPY, struct.pack("ii", 8 * len(randomness), len(randomness)) + randomness)
        fcntl.ioctl(numbers, RESEED)


async def dial_guest() -> StreamPair:
    """The guest, after its greeting; it hands over the memory for frames, which the host has already."""
    end = socket.socket(socket.AF_UNIX)
    await asyncio.to_thread(_receive_greeting, end)
    return await asyncio.open_unix_connection(sock=end, limit=CHUNK)


def _receive_greeting(end: socket.socket) -> None:
    end.connect(str(RUNTIME / "guest.sock"))
    _, descriptors, _, _ = socket.recv_fds(end, len(GREETING), 1)
    for descriptor in descriptors:
        os.close(descriptor)


if __name__ == "__main__":
    main()
