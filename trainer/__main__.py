"""The trainer's commands: `python -m trainer NAME --config FILE [--set FIELD=VALUE]…`.

Without a name they are listed; `python -m trainer NAME --help` says what each setting means. What a command made is
its last line on the standard output.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from trainer.config import describe_fields, read_config
from trainer.errors import ConfigInvalid, TrainerError

SHARED = ("ct", "sft", "rft", "dpo", "kto", "value", "orm", "ppo", "grpo")
"""Commands that several processes can run together, started by torchrun."""
COMMANDS = {
    **{name: f"trainer.algorithms.{name}" for name in SHARED},
    "merge": "trainer.model.merge",
    "quantize": "trainer.model.quantize",
    "score": "trainer.algorithms.score",
}
"""The module of each command. It has `Config`, its settings, and `run(config)`, which returns the result's path."""


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
    module = import_module(COMMANDS[name])
    parser = argparse.ArgumentParser(
        prog=f"python -m trainer {name}",
        description=module.__doc__,
        epilog=describe_fields(module.Config),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings as a JSON object")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="one more; it wins")
    options = parser.parse_args(words)
    try:
        made = _done(name, module.run, read_config(module.Config, options.config, options.set))
        if made is not None:
            print(made)
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"os_error: {error}", file=sys.stderr)
        return 1
    return 0


def _done(name: str, run: Callable[..., Path], config: Any) -> Path | None:
    """What a command made; nothing for processes beside the first. Raises TrainerError."""
    from trainer.runtime.distributed import is_first, process_group

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and name not in SHARED:
        raise ConfigInvalid(f"{name} is done by one process; several can do {', '.join(SHARED)}")
    with process_group(getattr(config, "device", "cpu")):
        made = run(config, **_rollouts(config))
        return made if is_first() else None


def _rollouts(config: Any) -> dict[str, Any]:
    """The rollout source of a run whose world the trainer plays itself, as an argument of `run`."""
    if getattr(config, "world", "inbox") == "inbox":
        return {}
    from trainer.toy.rollouts import LightsSource

    return {"rollouts": LightsSource()}


def _purpose(command: str) -> str:
    """The first line of a command's docstring; nothing is imported for it."""
    file = Path(__file__).parents[1] / f"{COMMANDS[command].replace('.', '/')}.py"
    source = file.read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").split("\n", 1)[0]


if __name__ == "__main__":
    sys.exit(main())
