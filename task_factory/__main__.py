"""The command `./pilothouse factory`."""

import argparse
import sys
from collections.abc import Callable

from task_factory.games import command as games
from task_factory.questions import command as questions
from task_factory.sites import command as sites

Command = Callable[[argparse.Namespace], int]
"""Runs a sub-command with its options; gives the exit status. `add_commands` of a package sets it as `run`."""


def main(words: list[str] | None = None) -> int:
    """Run one sub-command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="./pilothouse factory", description="Make tasks and check them.")
    commands = parser.add_subparsers(dest="command", required=True)
    games.add_commands(commands)
    questions.add_commands(commands)
    sites.add_commands(commands)
    given = parser.parse_args(words)
    run: Command = given.run
    return run(given)


if __name__ == "__main__":
    sys.exit(main())
