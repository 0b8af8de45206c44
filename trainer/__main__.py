"""The trainer's commands: `python -m trainer NAME --config FILE [--set FIELD=VALUE]…`.

Without a name they are listed; `python -m trainer NAME --help` says what each setting means. What a command made is
its last line on the standard output.
"""

import argparse
import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from trainer.config import config_read, fields_told
from trainer.errors import ConfigInvalid, TrainerError

COMMANDS = ("ct", "sft", "rft", "dpo", "kto", "value", "orm", "ppo", "grpo", "merge", "quantize", "score")
"""Modules of this package, each with `Config`, its settings, and `run(config)`, which returns what it made."""
SHARED = ("ct", "sft", "rft", "dpo", "kto", "value", "orm", "ppo", "grpo")
"""Those that several processes can do together, started by torchrun."""


def main(arguments: list[str] | None = None) -> int:
    """Do one command: 0 when it was done, 1 with a coded error, 2 where it cannot be understood."""
    name, *words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print("usage: python -m trainer NAME --config FILE [--set FIELD=VALUE]…\n")
        print("\n".join(f"  {command:10}{_purpose(command)}" for command in COMMANDS))
        return 0
    if name not in COMMANDS:
        print(f"command_unknown: there is no {name}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    module = import_module(f"trainer.{name}")
    parser = argparse.ArgumentParser(
        prog=f"python -m trainer {name}",
        description=module.__doc__,
        epilog=fields_told(module.Config),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings as a JSON object")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="one more; it wins")
    given = parser.parse_args(words)
    try:
        made = _done(name, module.run, config_read(module.Config, given.config, given.set))
        if made is not None:
            print(made)
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"os_error: {error}", file=sys.stderr)
        return 1
    return 0


def _done(name: str, run: Callable[[Any], Path], config: Any) -> Path | None:
    """What a command made; nothing for processes beside the first. Raises TrainerError."""
    from trainer.ranks import is_first, joined

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and name not in SHARED:
        raise ConfigInvalid(f"{name} is done by one process; several can do {', '.join(SHARED)}")
    with joined(getattr(config, "device", "cpu")):
        made = run(config)
        return made if is_first() else None


def _purpose(command: str) -> str:
    """The first line of a command's docstring; nothing is imported for it."""
    source = Path(__file__).with_name(f"{command}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").split("\n", 1)[0]


if __name__ == "__main__":
    sys.exit(main())
