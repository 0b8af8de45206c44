"""Makes the table of a folder of OSWorld's task files: `./pilothouse osworld table --tasks FOLDER --out FILE`."""

import argparse
import asyncio
import sys
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.osworld.program_needs import read_services
from vm_bridge.osworld_table.attempts import TableRow
from vm_bridge.osworld_table.local_run import run_tasks
from vm_bridge.osworld_table.report import write_table
from vm_bridge.osworld_table.task_folder import read_task_folder

FILES_FOLDER = "files"


def main(words: list[str]) -> int:
    """The exit status: 1 where there is no machine or no task."""
    parser = argparse.ArgumentParser(prog="./pilothouse osworld table", description=__doc__)
    parser.add_argument(
        "--tasks", type=Path, required=True, help="a folder of task files, also in folders by application"
    )
    parser.add_argument("--out", type=Path, required=True, help="the JSON file; the readable table is beside it (.md)")
    parser.add_argument("--files", type=Path, help="what upload_file steps bring (the folder `files` of --tasks)")
    parser.add_argument("--hosts", default="", help="hosts that files may be fetched from, with commas (none)")
    parser.add_argument("--password", default="", help="of the desktop's user, for files that ask for it")
    parser.add_argument(
        "--python", type=Path, default=EvaluatorSettings.python, help="the interpreter with the package"
    )
    parser.add_argument("--services", type=Path, help="NAME=value lines: websites and judging model of OSWorld 2.0")
    given = parser.parse_args(words)
    tasks = read_task_folder(given.tasks)
    if not tasks:
        print(f"{given.tasks} holds no task file of OSWorld", file=sys.stderr)
        return 1
    files = given.files or given.tasks / FILES_FOLDER
    hosts = tuple(host.strip() for host in given.hosts.split(",") if host.strip())
    services = read_services(given.services)
    settings = EvaluatorSettings(given.python, hosts, given.password, files if files.is_dir() else None, services)
    try:
        rows = asyncio.run(run_tasks(tasks, settings, _tell))
    except NoMachine as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    table = write_table(given.out, rows)
    print(f"{given.out} and {given.out.with_suffix('.md')}: {table['outcomes']}")
    return 0


def _tell(row: TableRow) -> None:
    why = f": {row.reason}" if row.reason else ""
    print(f"{row.id}: {row.outcome} ({row.seconds:g} s){why}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
