"""`python -m trainer.toy start FOLDER` makes a policy; `play --run RUN --inbox INBOX` plays for a run that learns;
`attempts CHECKPOINT --out FOLDER` makes a folder of attempts."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import sys
from pathlib import Path

import torch

from protocol.trajectory.proposals import PolicyRef
from trainer.errors import TrainerError
from trainer.toy.episodes import DIALECT
from trainer.toy.rollouts import create_attempts
from trainer.toy.warm_start import create_warm_start
from trainer.toy.worker import Worker


def main(arguments: list[str] | None = None) -> int:
    """Do one of them."""
    parser = argparse.ArgumentParser(prog="python -m trainer.toy", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="a policy that names corners without looking")
    start.add_argument("folder", type=Path)
    start.add_argument("--seed", type=int, default=0)
    play = commands.add_parser("play", help="attempts by a run's newest weights, until it is ended")
    play.add_argument("--run", type=Path, required=True, help="the run's folder, which gets the weights")
    play.add_argument("--inbox", type=Path, required=True, help="where the run takes attempts from")
    play.add_argument("--name", default="worker", help="whose unfinished attempts it continues")
    play.add_argument("--parallel", type=int, default=8, help="attempts at a time")
    play.add_argument("--ahead", type=int, default=64, help="attempts that may wait in the inbox")
    play.add_argument("--temperature", type=float, default=1.0)
    play.add_argument("--patience", type=float, default=600.0, help="seconds to wait for the first weights")
    attempts = commands.add_parser("attempts", help="attempts by one checkpoint, a seed each, as a folder")
    attempts.add_argument("checkpoint", type=Path)
    attempts.add_argument("--out", type=Path, required=True, help="the folder to make; one that is there is left")
    attempts.add_argument("--first-seed", type=int, default=0)
    attempts.add_argument("--seeds", type=int, default=20)
    attempts.add_argument("--policy", default="toy", help="whose they are called")
    attempts.add_argument("--revision", required=True, help="the word for these weights")
    attempts.add_argument("--temperature", type=float, default=1.0)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        if options.command == "start":
            print(create_warm_start(options.folder, seed=options.seed))
        elif options.command == "attempts":
            seeds = range(options.first_seed, options.first_seed + options.seeds)
            by = PolicyRef(name=options.policy, revision=options.revision, dialect=DIALECT)
            print(create_attempts(options.checkpoint, options.out, seeds, by=by, temperature=options.temperature))
        else:
            worker = Worker(
                name=options.name,
                run=options.run,
                inbox=options.inbox,
                parallel=options.parallel,
                ahead=options.ahead,
                temperature=options.temperature,
            )
            asyncio.run(worker.work(patience=options.patience))
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
