"""Pages of settings: environment variables, and the trainer's commands."""

import ast
from pathlib import Path

from annotation_app.reference.markdown import code, default_code, page, table
from annotation_app.reference.source_fields import SourceField, module_file, read_class
from annotation_app.reference.variables import VARIABLES
from protocol.legacy_names import ENVIRONMENT, REMOVED_IN

PREFIX = "PILOTHOUSE_"
PROCESSES = {
    "Web app": (
        "annotation_app.settings.env",
        "Environment",
        "Read by the web app, its workers and `manage.py`.",
    ),
    "Bridge": ("vm_bridge.config", "Config", "Read by bridge hosts, the manager of machines and the VNC gateway."),
}
"""By heading: module and class of the settings, and which programs read them."""


def environment_page(root: Path) -> str:
    """Every environment variable with its default, its unit or bounds, and its effect."""
    sections = [
        (heading, f"{about}\n\n{_variables(root, module, name)}")
        for heading, (module, name, about) in PROCESSES.items()
    ]
    others = table(
        ("variable", "default", "read by", "effect"),
        ((code(one.name), code(one.default), one.read_by, one.meaning) for one in VARIABLES),
    )
    former = table(("former name", "name"), ((code(former), code(name)) for former, name in ENVIRONMENT.items()))
    return page(
        "Environment variables",
        "A variable that is not set has its default. A wrong value ends the program at its start and is named.",
        [*sections, ("Commands and clients", others), ("Former names", f"Read until {REMOVED_IN}.\n\n{former}")],
    )


def _variables(root: Path, module: str, name: str) -> str:
    rows = (
        (code(PREFIX + one.name.upper()), one.type, default_code(one.default), one.meaning)
        for one in read_class(root, module, name).fields
    )
    return table(("variable", "type", "default", "effect"), rows)


def trainer_commands(root: Path) -> dict[str, str]:
    """The module of each trainer command, read from `trainer.__main__`."""
    tree = ast.parse((root / "trainer" / "__main__.py").read_text())
    shared: tuple[str, ...] = ()
    commands: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SHARED":
            shared = ast.literal_eval(node.value)
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "COMMANDS"
            and isinstance(node.value, ast.Dict)
        ):
            pairs = zip(node.value.keys, node.value.values, strict=True)
            commands = {ast.literal_eval(key): ast.literal_eval(value) for key, value in pairs if key is not None}
    return {**{name: f"trainer.algorithms.{name}" for name in shared}, **commands}


def trainer_page(root: Path) -> str:
    """Every setting of every command of the trainer."""
    sections = []
    for command, module in trainer_commands(root).items():
        about = ast.get_docstring(ast.parse(module_file(root, module).read_text())) or ""
        fields = read_class(root, module, "Config").fields
        sections.append((command, f"{about.split(chr(10) * 2)[0]}\n\n{_settings(fields)}"))
    return page(
        "Trainer settings",
        "`./pilothouse trainer COMMAND --config FILE --set FIELD=VALUE`. The file is a JSON object; `--set` wins.",
        sections,
    )


def _settings(fields: tuple[SourceField, ...]) -> str:
    rows = ((code(one.name), one.type, default_code(one.default), one.meaning) for one in fields)
    return table(("setting", "type", "default", "meaning"), rows)
