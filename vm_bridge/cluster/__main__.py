"""Places bridge hosts over a Ray cluster, beside a manager: docs/guides/operator/cluster.md.

python -m vm_bridge.cluster --hosts 3 --cpus 4 --memory 16 --resource machines=1
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence

try:
    import ray
except ModuleNotFoundError:
    sys.exit("vm_bridge.cluster: Ray is not installed here: pip install -r vm_bridge/cluster/requirements.lock")

from vm_bridge.__main__ import configure_logging, connect_redis
from vm_bridge.cluster.controller import ClusterController, HostResources
from vm_bridge.config import Config, ConfigError, read_config

GIB = 1 << 30


def parse_arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m vm_bridge.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ray", default="auto", help="address of the cluster; by default the one this machine is in")
    parser.add_argument("--hosts", type=int, required=True, help="how many")
    parser.add_argument(
        "--cpus", type=float, default=1, help="processors that Ray sets aside for each with its machines"
    )
    parser.add_argument("--memory", type=float, default=0, help="GiB that it sets aside for each")
    parser.add_argument(
        "--resource", type=parse_resource, action="append", default=[], help="name=amount; may be repeated"
    )
    arguments = parser.parse_args(given)
    if arguments.hosts < 1:
        parser.error("--hosts is at least 1")
    return arguments


def parse_resource(text: str) -> tuple[str, float]:
    """A resource of a node and how much of it. Raises ArgumentTypeError."""
    name, _, amount = text.partition("=")
    try:
        return name, float(amount or "1")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not name=amount") from None


async def run_controller(config: Config, arguments: argparse.Namespace) -> None:
    """Run until SIGTERM or SIGINT, then end the hosts. After SIGHUP or an unexpected error, leave them running."""
    host_resources = HostResources(arguments.cpus, int(arguments.memory * GIB), dict(arguments.resource))
    async with connect_redis(config) as redis:
        controller = ClusterController(redis, host_resources)
        controller.place_hosts(arguments.hosts)
        run_task = asyncio.create_task(controller.run())
        signals: asyncio.Queue[int] = asyncio.Queue()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
        signal_task = asyncio.create_task(signals.get())
        await asyncio.wait((run_task, signal_task), return_when=asyncio.FIRST_COMPLETED)
        if not signal_task.done():
            await run_task  # raises: without it this program would run on and supervise nothing
        run_task.cancel()
        if signal_task.result() != signal.SIGHUP:
            await controller.stop_hosts()


def main(given: Sequence[str] | None = None) -> int:
    """Place and supervise the hosts. Returns 1 if there is no cluster."""
    arguments = parse_arguments(given)
    configure_logging()
    try:
        config = read_config(os.environ)
        ray.init(address=arguments.ray, log_to_driver=False, logging_level="warning")
    except (ConfigError, ConnectionError) as error:
        print(f"vm_bridge.cluster: {error}", file=sys.stderr)
        return 1
    asyncio.run(run_controller(config, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
