"""Puts a virtual machine of somebody's own back: `python -m vm_bridge.hosts.qemu_revert FOLDER HOST:PORT`.

QEMU is told over the control socket FOLDER/PORT.sock to load the state `ready`; what its address is says which one.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.qemu.qmp import QmpClient, QmpError

STATE = "ready"
LOAD_SECONDS = 600.0


async def load_state(control: Path, state: str) -> None:
    """Load a state and let the machine run. Raises MachineGone, QmpError."""
    qmp = await QmpClient.connect(control)
    try:
        nodes = await qmp.ask("query-named-block-nodes", flat=True)
        having = {
            node["node-name"]: snapshot["vm-state-size"]
            for node in nodes
            for snapshot in node["image"].get("snapshots", ())
            if snapshot["name"] == state
        }
        memory = [name for name, size in having.items() if size]
        if not memory:
            raise QmpError(f"the machine at {control} has no state {state!r}")
        await qmp.do("snapshot-load", seconds=LOAD_SECONDS, tag=state, vmstate=memory[0], devices=list(having))
        await qmp.ask("cont")
    finally:
        qmp.close()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.hosts.qemu_revert", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the control sockets lie")
    parser.add_argument("address", help="of the guest's server; its port names the socket")
    parser.add_argument("--state", default=STATE)
    given = parser.parse_args(words)
    try:
        asyncio.run(load_state(given.folder / f"{given.address.rpartition(':')[2]}.sock", given.state))
    except (MachineGone, QmpError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
