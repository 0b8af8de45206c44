"""The page of commands: `./pilothouse`, the programs it starts, and management commands."""

import argparse
import ast
from pathlib import Path

from annotation_app.operations.__main__ import build_parser
from annotation_app.reference.markdown import code, page, table
from annotation_app.reference.options import Command, find_programs, read_commands

MANAGEMENT = "annotation_app/*/management/commands/[a-z]*.py"


def command_page(root: Path) -> str:
    """Every command with its options."""
    programs = [
        (f"python -m {one.module}", "\n\n".join([one.about, *map(_command, one.commands)]))
        for one in find_programs(root)
    ]
    lead = (
        "Commands that start a program pass its options on: `./pilothouse trainer sft --help` is that program's help."
    )
    return page(
        "Commands", lead, [("./pilothouse", _pilothouse()), *programs, ("./pilothouse manage", _management(root))]
    )


def _pilothouse() -> str:
    parser = build_parser()
    commands = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    parts = []
    for name, command in commands.choices.items():
        options = [one for one in command._actions if one.dest != "help"]
        rows = (
            (code(", ".join(one.option_strings) or str(one.metavar or one.dest)), one.help or "") for one in options
        )
        parts.append(f"### {name}\n\n{(command.description or '').strip()}\n\n{table(('option', 'meaning'), rows)}")
    return "\n".join(parts)


def _command(command: Command) -> str:
    rows = ((code(one.names), code(one.default), one.meaning) for one in command.options)
    heading = f"### {command.name}\n\n{command.about}" if command.name else ""
    return "\n\n".join(filter(None, (heading, table(("option", "default", "meaning"), rows))))


def _management(root: Path) -> str:
    parts = []
    for file in sorted(root.glob(MANAGEMENT), key=lambda one: one.stem):
        module = file.relative_to(root).as_posix().removesuffix(".py").replace("/", ".")
        options = [option for command in read_commands(root, module) for option in command.options]
        rows = ((code(one.names), code(one.default), one.meaning) for one in options)
        parts.append(f"### {file.stem}\n\n{_help_of(file)}\n\n{table(('option', 'default', 'meaning'), rows)}")
    return "\n".join(parts)


def _help_of(file: Path) -> str:
    """The help text of a management command."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "help"
            and isinstance(node.value, ast.Constant)
        ):
            return str(node.value.value)
    return ast.get_docstring(tree) or ""
