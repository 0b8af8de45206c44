"""coturn with the file of `docker/keys.py` leads people to public addresses and not into private networks."""

import asyncio
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from aioice.stun import TransactionFailed
from aioice.turn import TurnClientUdpProtocol

from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import ROOT
from tests.waiting import wait_until
from vm_bridge.ice import IceServer, with_credentials

FORBIDDEN = 403
pytestmark = pytest.mark.skipif(shutil.which("turnserver") is None, reason="coturn is not installed")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IceServer]:
    """A relay on the loopback, whose host name leads to a private address."""
    keys = runpy.run_path(str(ROOT / "docker" / "keys.py"))
    keys["secrets_make"](tmp_path / "secrets", "192.168.77.1")
    port, log = free_port(), tmp_path / "turn.log"
    text = (tmp_path / "secrets" / "turn").read_text()
    text = re.sub(
        r"(?m)^listening-port=.*$", f"listening-port={port}\nlistening-ip=127.0.0.1\nrelay-ip=127.0.0.1\nverbose", text
    )
    text = re.sub(r"(?m)^pidfile=.*$|^userdb=.*$", "", text) + f"\npidfile={tmp_path}/pid\nuserdb={tmp_path}/db\n"
    (tmp_path / "turn").write_text(text)
    with log.open("w") as output:
        process = subprocess.Popen(
            ["turnserver", "-c", str(tmp_path / "turn"), "--no-tls", "--no-dtls"],
            stdout=output,
            stderr=output,
            cwd=tmp_path,
        )
    try:
        wait_until(lambda: "UDP listener opened" in log.read_text() or process.poll() is not None)
        secret = (tmp_path / "secrets" / "turn_secret").read_text()
        yield IceServer(urls=f"turn:127.0.0.1:{port}?transport=udp", secret=secret)
    finally:
        process.terminate()
        process.wait(10)


async def refused(server: IceServer, peers: tuple[str, ...]) -> set[str]:
    """To which of these the relay does not lead."""
    (known,) = with_credentials([server], "ada")
    address = ("127.0.0.1", int(str(known.urls).split(":")[2].partition("?")[0]))
    transport, turn = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: TurnClientUdpProtocol(
            address, username=known.username, password=known.credential, lifetime=600, channel_refresh_time=500
        ),
        remote_addr=address,
    )
    found = set()
    try:
        await turn.connect()
        for number, peer in enumerate(peers):
            try:
                await turn.channel_bind(0x4000 + number, (peer, 40_000))
            except TransactionFailed as failure:
                if failure.response.attributes["ERROR-CODE"][0] == FORBIDDEN:
                    found.add(peer)
        await turn.delete()
    finally:
        transport.close()
    return found


async def test_private_networks_are_denied_and_public_addresses_are_not(server: IceServer) -> None:
    private = (
        "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.17.0.2", "192.168.1.1", "100.64.0.1", "127.0.0.1", "127.9.9.9",
        "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255",
    )  # fmt: skip
    public = ("203.0.113.5", "172.32.0.1", "11.0.0.1")
    own = ("192.168.77.1",)
    assert await refused(server, (*private, *public, *own)) == set(private)
