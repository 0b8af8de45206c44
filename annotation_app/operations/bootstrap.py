"""Entry point of `./pilothouse`: parse the command line, and create the environment `.venv` if a command needs it.

Runs in `.venv` if that works, else in any Python from 3.11 on, with only the standard library.
"""

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from annotation_app.operations.__main__ import EnvironmentRequirement, execute, parse
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.file_locks import setup_lock
from annotation_app.operations.install.setup import SETUP_LOCK_FILE, SETUP_LOG
from annotation_app.operations.install.virtual_environments import ensure_venv
from annotation_app.operations.runtime.stack import ROOT

VENV_FOLDER = ROOT / ".venv"


def main(words: list[str] | None = None) -> int:
    """Run one subcommand in the environment that it needs. Returns the exit status."""
    words = sys.argv[1:] if words is None else words
    arguments, rest = parse(words)
    console = Console()
    try:
        python = _interpreter(arguments, console)
    except OperationsError as error:
        console.problem(error)
        return 1
    except KeyboardInterrupt:
        console.say()
        return 130
    if python is None:
        return execute(arguments, rest)
    os.execv(python, [str(python), "-m", "annotation_app.operations", *words])  # noqa: S606 - the environment's interpreter


def _interpreter(arguments: argparse.Namespace, console: Console) -> Path | None:
    """The interpreter to run the command with; None: this one."""
    here = VENV_FOLDER.exists() and VENV_FOLDER.samefile(sys.prefix)
    match arguments.environment:
        case EnvironmentRequirement.CREATE:
            if here and importlib.util.find_spec("pip"):
                return None
            with setup_lock(SETUP_LOCK_FILE, console):
                return ensure_venv(VENV_FOLDER, console=console, log=SETUP_LOG)
        case EnvironmentRequirement.PRESENT if not here:
            raise OperationsError(
                f"There is no working Python environment in {VENV_FOLDER}.",
                hint="Make it first: ./pilothouse setup (once). Or let ./pilothouse demo set everything up and start.",
            )
        case _:
            return None


if __name__ == "__main__":
    sys.exit(main())
