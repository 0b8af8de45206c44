"""A suite's expert annotates a pool through the web app, as a person would. Prints one JSON object per episode.

    PILOTHOUSE_BRIDGE_MASTER_KEY=… PILOTHOUSE_PASSWORD=… \\
    python -m agent_backend.simulated_annotator --web http://127.0.0.1:8000 \\
        --bridge http://127.0.0.1:8010 --user annotator --pool "Small screens" --episodes 40

The expert sees the state of the task, so it does not model people. It is for experiments and load tests.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from agent_backend.errors import AgentError
from agent_backend.simulated_annotator.annotator import CLICK_TOLERANCE_PIXELS, AnnotationSummary, annotate
from agent_backend.simulated_annotator.web_client import EpisodeConnection, WebAppClient
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.host_keys import read_master_key
from vm_bridge.machine import ExpertSuggestion


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.simulated_annotator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--web", required=True, help="address of the web app")
    parser.add_argument("--bridge", required=True, help="address of the bridge")
    parser.add_argument("--user", required=True, help="an annotator; PILOTHOUSE_PASSWORD has the password")
    parser.add_argument("--pool", required=True, help="the pool's name")
    parser.add_argument("--episodes", type=int, default=10**9, help="at most so many; default: until nothing waits")
    parser.add_argument("--labels", type=int, default=10**9, help="end once so many steps are the annotator's own")
    parser.add_argument(
        "--aim",
        type=int,
        default=CLICK_TOLERANCE_PIXELS,
        help="how far from the expert's point counts as the same (px)",
    )
    return parser.parse_args(argv)


async def annotate_pool(arguments: argparse.Namespace) -> list[AnnotationSummary]:
    """Annotate until the requested number is done or no task waits. Raises AgentError, BridgeError and TimeoutError."""
    done: list[AnnotationSummary] = []
    master_key = read_master_key(os.environ)
    async with WebAppClient(arguments.web.rstrip("/")) as account, BridgeClient(arguments.bridge, master_key) as bridge:
        await account.sign_in(arguments.user, os.environ.get("PILOTHOUSE_PASSWORD", ""))
        pool = await account.pool(arguments.pool)
        while len(done) < arguments.episodes and sum(summary.labels for summary in done) < arguments.labels:
            episode = await account.next_episode(pool)
            if episode is None:
                break

            async def suggest(episode: str = episode) -> ExpertSuggestion | None:
                return await bridge.machine(await bridge.lease_of(episode)).suggest_expert_action()

            async with EpisodeConnection(account, episode) as connection:
                done.append(await annotate(connection, suggest, aim=arguments.aim))
            print(done[-1].model_dump_json(), flush=True)
    return done


def main(argv: Sequence[str] | None = None) -> int:
    """Annotate and print the result. Returns 1 if it could not continue."""
    arguments = parse_arguments(argv)
    try:
        done = asyncio.run(annotate_pool(arguments))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except TimeoutError:
        print("timeout: the desk sent no message in time", file=sys.stderr)
        return 1
    accepted, labels = sum(summary.accepted for summary in done), sum(summary.labels for summary in done)
    won = sum(summary.ended == "success" for summary in done)
    print(f"{len(done)} episodes, {won} done; {accepted} steps accepted, {labels} the annotator's own", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
