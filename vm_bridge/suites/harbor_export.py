"""Bundled tasks of terminals and desktops as Harbor's task folders: `python -m vm_bridge.suites.harbor_export FOLDER`.

Every folder has its own verifier and a solution that passes it. No window is open at the start of such a task, and an
answer is written to a file, since Harbor has neither; the instruction says so.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from vm_bridge.suites.desktop import DESKTOP
from vm_bridge.suites.harbor_solutions import SOLUTIONS
from vm_bridge.suites.table_suite import TableSuite, TableTask
from vm_bridge.suites.terminal import TERMINAL

VERIFIER = Path(__file__).with_name("harbor_verifier.py")
HOME_NOTE = "The files are in /home/user. No program is open; use the command line."
ANSWER_NOTE = "Write the answer into the file answer.txt in the home folder."
DOCKERFILE = "FROM pilothouse-terminal\nWORKDIR /home/user\n"


def export_folders() -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Each folder's name and files, in order."""
    for suite in (TERMINAL, DESKTOP):
        for task in suite.tasks:
            name = task.name or ""
            yield f"{task.suite}-{name.replace('_', '-')}", _folder(suite, str(task.suite), suite.definition(name))


def write_folders(target: Path) -> int:
    """Write every folder below a new one; how many. Raises OSError."""
    target.mkdir(parents=True)
    folders = tuple(export_folders())
    for name, files in folders:
        for path, data in files.items():
            place = target / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(0o755 if path.endswith(".sh") else 0o644)
    return len(folders)


def _folder(suite: TableSuite, suite_name: str, task: TableTask) -> Mapping[str, bytes]:
    answered = any(check.data["kind"] == "answer_is" for check in task.checks)
    notes = [task.instruction, HOME_NOTE, *([ANSWER_NOTE] if answered else [])]
    config = (
        'schema_version = "1.4"\n\n'
        f'[task]\nname = "pilothouse/{suite_name}-{task.name.replace("_", "-")}"\nversion = "1.0.0"\n'
        'description = ""\nkeywords = []\n\n'
        f"[metadata]\nmax_steps = {task.max_steps}\n\n"
        "[agent]\ntimeout_sec = 300.0\n\n[verifier]\ntimeout_sec = 60.0\n\n"
        '[environment]\nbuild_timeout_sec = 120.0\nnetwork_mode = "no-network"\n'
    )
    checks = json.dumps([check.data for check in task.checks], ensure_ascii=False, indent=1)
    files = {
        "task.toml": config,
        "instruction.md": "\n\n".join(notes) + "\n",
        "environment/Dockerfile": DOCKERFILE + ("COPY home/ /home/user/\n" if task.files else ""),
        "tests/test.sh": '#!/bin/bash\npython3 -I "$(dirname "$0")/verifier.py"\n',
        "tests/verifier.py": VERIFIER.read_text("utf-8"),
        "tests/checks.json": checks,
        "solution/solve.sh": f"#!/bin/bash\nset -e\ncd /home/user\n{SOLUTIONS[suite_name, task.name]}\n",
        **{f"environment/home/{path}": text for path, text in task.files.items()},
    }
    return {path: text.encode() for path, text in files.items()}


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 1 where the folder is there or cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m vm_bridge.suites.harbor_export", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder to make; it must not exist")
    options = parser.parse_args(arguments)
    try:
        count = write_folders(options.folder)
    except OSError as error:
        print(f"{options.folder} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{count} task folders in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
