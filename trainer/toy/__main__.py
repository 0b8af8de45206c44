"""`python -m trainer.toy start FOLDER` makes a policy; `python -m trainer.toy play --run RUN --inbox INBOX` plays."""

import argparse
import asyncio
import sys
from pathlib import Path

import torch

from trainer.errors import TrainerError
from trainer.toy.start import start_make
from trainer.toy.worker import Worker


def main(arguments: list[str] | None = None) -> int:
    """Do one of the two."""
    parser = argparse.ArgumentParser(prog="python -m trainer.toy", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="a policy that names corners without looking")
    start.add_argument("folder", type=Path)
    start.add_argument("--seed", type=int, default=0)
    play = commands.add_parser("play", help="attempts by a run's newest weights, until it is ended")
    play.add_argument("--run", type=Path, required=True, help="the run's folder, which gets the weights")
    play.add_argument("--inbox", type=Path, required=True, help="where the run takes attempts from")
    play.add_argument("--name", default="worker", help="whose unfinished attempts it goes on with")
    play.add_argument("--parallel", type=int, default=8, help="attempts at a time")
    play.add_argument("--ahead", type=int, default=64, help="attempts that may wait in the inbox")
    play.add_argument("--temperature", type=float, default=1.0)
    play.add_argument("--patience", type=float, default=600.0, help="seconds to wait for the first weights")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        if given.command == "start":
            print(start_make(given.folder, seed=given.seed))
        else:
            worker = Worker(
                name=given.name,
                run=given.run,
                inbox=given.inbox,
                parallel=given.parallel,
                ahead=given.ahead,
                temperature=given.temperature,
            )
            asyncio.run(worker.work(patience=given.patience))
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
