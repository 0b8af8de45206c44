"""Writes a file of AndroidWorld's tasks: `python -m vm_bridge.hosts.phone.list_android_world`.

The lab's copy of the package says what its tasks are asked in words. The file is the lab's own.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.phone.android_world import AndroidWorldProgram, ProgramFailed


def main() -> int:
    parser = argparse.ArgumentParser(prog="list_android_world", description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="the interpreter that has AndroidWorld's package")
    parser.add_argument("--family", default="android_world")
    parser.add_argument("--seed", type=int, default=30, help="of the parameters")
    parser.add_argument("--combinations", type=int, default=1, help="tasks of each class, with other parameters each")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    given = parser.parse_args()
    asked = {"do": "list", "family": given.family, "seed": given.seed, "combinations": given.combinations}
    try:
        rows = asyncio.run(list_rows(given.python, asked))
    except (ProgramFailed, MachineGone) as error:
        print(error, file=sys.stderr)
        return 1
    given.out.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(f"{len(rows)} tasks in {given.out}")
    return 0


async def list_rows(python: Path, asked: dict[str, Any]) -> list[Any]:
    """The rows of a file of tasks. Raises ProgramFailed, MachineGone."""
    program = AndroidWorldProgram(python, None, "")
    await program.start()
    try:
        answer = await program.ask(asked)
    finally:
        await program.end()
    if "tasks" not in answer:
        raise ProgramFailed(str(answer.get("unsupported") or answer.get("failed")))
    return list(answer["tasks"])


if __name__ == "__main__":
    sys.exit(main())
