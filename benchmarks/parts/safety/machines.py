"""Machines as their viewers and annotators reach them: tickets, and a secret that is used at the desk."""

import itertools
import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from benchmarks.parts.concurrency import in_background
from benchmarks.parts.kills.episode_client import ENDED, EpisodeClient
from benchmarks.parts.safety.origins import SocketDoor
from benchmarks.parts.safety.planted_secrets import POOL_VALUE, PlantedSecrets
from benchmarks.parts.safety.requests import Session, http_connection
from benchmarks.parts.waiting import wait_until
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import StreamKind, TicketClaim, mint_ticket
from vm_bridge.machine import Lease

WAIT_SECONDS = 120.0
LEASE_SECONDS = 300.0
STEP_SECONDS = 120.0
STEP_COMMAND = "printf %s secret:PLANTED | wc -c; echo secret:PLANTED; cat /nowhere/secret:PLANTED"
"""Prints how long the value is, the value, and an error with it."""
numbers = itertools.count()


@asynccontextmanager
async def leased(environment: Mapping[str, str], image: str) -> AsyncIterator[Lease]:
    """A machine whose viewers are asked for tickets."""
    async with BridgeClient(
        environment["PILOTHOUSE_BRIDGE_URL"], environment["PILOTHOUSE_BRIDGE_MASTER_KEY"]
    ) as bridge:
        lease = await bridge.allocate(image=image, holder="safety", ttl=LEASE_SECONDS, wait=WAIT_SECONDS)
        try:
            yield lease
        finally:
            await bridge.release(lease)


def socket_doors(
    environment: Mapping[str, str], origin: str, desktop: Lease, browser: Lease, planted: PlantedSecrets
) -> list[SocketDoor]:
    """The WebSockets of the bridge and of the VNC gateway; each handshake brings a new ticket."""

    def ticket(kind: StreamKind, lease: Lease) -> str:
        claim = TicketClaim(
            kind=kind, user="safety", episode="safety", machine_id=lease.machine_id, fencing_token=lease.fencing_token
        )
        text = mint_ticket(environment["PILOTHOUSE_BRIDGE_MASTER_KEY"], claim)
        return planted.plant(f"ticket {next(numbers)} for {kind}", text)

    bridge = urlsplit(environment["PILOTHOUSE_BRIDGE_URL"]).netloc
    gateway = environment["PILOTHOUSE_VNC_BIND"]
    terminal, vnc, cdp = (
        lambda: f"/streams/terminal?token={ticket('terminal', desktop)}",
        lambda: f"/?token={ticket('vnc', desktop)}",
        lambda: f"/streams/cdp?token={ticket('cdp', browser)}",
    )
    return [
        SocketDoor("the terminal", bridge, bridge, terminal, origin),
        SocketDoor("VNC", gateway, gateway, vnc, origin),
        SocketDoor("the browser's protocol", bridge, bridge, cdp, None),
    ]


async def use_secret(web: str, origin: str, session: Session, pool: int, planted: PlantedSecrets) -> None:
    """Take a task and use the pool's secret in a terminal, as an annotator does; what is stored of it is kept to be
    looked through. Raises RuntimeError where the value did not reach the machine."""
    with http_connection(web) as connection:
        taken = json.loads(connection.call("POST", "/api/queue/next", session, {"pool_id": pool}).body)
        episode = taken["episode_id"]
        client = EpisodeClient(episode, session.cookie, (web,), origin, random.Random(1))
        async with in_background(client.run()):
            await wait_until(lambda: client.status == "running" and client.has_control, WAIT_SECONDS, "an episode runs")
            action = {"kind": "run_command", "command": STEP_COMMAND}
            command = client.send({"type": "act", "thought": "I use it.", "action": action})
            await wait_until(lambda: command.step is not None, STEP_SECONDS, lambda: f"a step; {command.fate}")
            client.send({"type": "finish", "outcome": "success"})
            await wait_until(lambda: client.status in ENDED, STEP_SECONDS, "the episode ends")
        stored = connection.call("GET", f"/api/episodes/{episode}/trajectory", session).body
        length = str(len(planted.values[POOL_VALUE]))
        if f"{length}\\n".encode() not in stored:
            raise RuntimeError("the machine was not given the secret; nothing was tried")
        planted.pages += [("the trajectory", stored), ("the step", json.dumps(command.step).encode())]
