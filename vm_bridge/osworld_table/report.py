"""The table of task files as JSON and as Markdown."""

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.images.build import IMAGES
from vm_bridge.images.manifest import read_manifest
from vm_bridge.osworld_table.attempts import Outcome, TableRow

UNKNOWN_VERSION = "unknown"


def application_versions() -> dict[str, str]:
    """The version of each application of the image, as the host's packages say; `unknown` where they do not."""
    applications = read_manifest(IMAGES / APPLICATIONS_IMAGE).applications
    return {each.name: _package_version(each.package) for each in applications}


def table_json(rows: Sequence[TableRow], versions: dict[str, str], moment: datetime) -> dict[str, Any]:
    """The whole table, with the number of rows of each outcome."""
    counted = Counter(row.outcome for row in rows)
    return {
        "date": moment.astimezone(UTC).isoformat(timespec="seconds"),
        "image": APPLICATIONS_IMAGE,
        "versions": versions,
        "tasks": len(rows),
        "outcomes": {outcome: counted[outcome] for outcome in get_args(Outcome) if counted[outcome]},
        "rows": [row.model_dump(mode="json") for row in rows],
    }


def table_markdown(table: dict[str, Any]) -> str:
    """The same for people."""
    versions = ", ".join(f"{name} {version}" for name, version in table["versions"].items())
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in table["outcomes"].items())
    lines = [
        f"# OSWorld task files on {table['image']}",
        "",
        f"{table['date']}. {table['tasks']} tasks: {outcomes}.",
        "",
        f"Applications: {versions}.",
        "",
        "| task | applications | set-up | doing nothing | solution | source | outcome | why |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, table["rows"]), ""])


def write_table(path: Path, rows: Sequence[TableRow]) -> dict[str, Any]:
    """Write the JSON to `path` and the Markdown beside it; the table."""
    table = table_json(rows, application_versions(), datetime.now(UTC))
    path.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table_markdown(table), encoding="utf-8")
    return table


def _line(row: dict[str, Any]) -> str:
    cells = (
        row["id"],
        ", ".join(row["applications"]),
        "passes" if row["set_up"] else "",
        "" if row["noop"] is None else f"{row['noop']:g}",
        "" if row["oracle"] is None else f"{row['oracle']:g}",
        row["oracle_source"],
        row["outcome"],
        row["reason"],
    )
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def _package_version(package: str) -> str:
    try:
        asked = subprocess.run(
            ("/usr/bin/dpkg-query", "--show", "--showformat=${Version}", package),
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except OSError:
        return UNKNOWN_VERSION
    return asked.stdout.strip() or UNKNOWN_VERSION
