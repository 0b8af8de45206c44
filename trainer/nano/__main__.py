"""The recipe: `python -m trainer.nano start FOLDER`, then `reading` and `clicking`; `measuring` tells how far, and
`bundle CHECKPOINT FOLDER` writes what is kept of it."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import sys
from importlib import import_module
from pathlib import Path

from trainer.config import describe_fields, read_config
from trainer.errors import TrainerError

STAGES = ("reading", "clicking", "measuring")
"""Modules of this package, each with `Config`, its settings, and `run(config)`, which returns what it made."""


def main(arguments: list[str] | None = None) -> int:
    """Do one of them: 0 when it was done, 1 with a coded error."""
    parser = argparse.ArgumentParser(
        prog="python -m trainer.nano", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="a policy that has learned nothing")
    start.add_argument("folder", type=Path)
    start.add_argument("--seed", type=int, default=0)
    bundle = commands.add_parser("bundle", help="a checkpoint with 16-bit weights, for serving and further training")
    bundle.add_argument("checkpoint", type=Path)
    bundle.add_argument("folder", type=Path, help="it is replaced")
    judge = commands.add_parser("judge", help="start weights of the same size for `trainer orm`")
    judge.add_argument("checkpoint", type=Path, help="the bundled policy, or one of its size")
    judge.add_argument("folder", type=Path)
    for name in STAGES:
        module = import_module(f"trainer.nano.{name}")
        stage = commands.add_parser(
            name,
            help=(module.__doc__ or "").split("\n")[0],
            epilog=describe_fields(module.Config),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        stage.add_argument("--config", type=Path, metavar="FILE", help="settings as a JSON object")
        stage.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="one more; it wins")
    options = parser.parse_args(arguments)
    try:
        if options.command == "start":
            from trainer.nano.initial_checkpoint import create_initial_checkpoint

            print(create_initial_checkpoint(options.folder, seed=options.seed))
        elif options.command == "bundle":
            from trainer.nano.bundles import write_bundle as bundled

            print(bundled(options.checkpoint, options.folder))
        elif options.command == "judge":
            from trainer.nano.judging import create_judge_start

            print(create_judge_start(options.checkpoint, options.folder))
        else:
            module = import_module(f"trainer.nano.{options.command}")
            print(module.run(read_config(module.Config, options.config, options.set)))
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
