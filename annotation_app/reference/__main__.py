"""Write the reference pages: `python -m annotation_app.reference FOLDER`."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.testing.generated_types import OPENAPI_COMMAND
from annotation_app.reference.command_page import command_page
from annotation_app.reference.http_page import http_page
from annotation_app.reference.protocol_pages import dialects_page, formats_page, messages_page
from annotation_app.reference.records_pages import audit_page, webhooks_page
from annotation_app.reference.settings_pages import environment_page, trainer_page

INDEX = """# Generated reference

These pages are written from the code when the site is built.

```{{toctree}}
:maxdepth: 1
{entries}
```
"""
PAGES: dict[str, Callable[[], str]] = {
    "settings": lambda: environment_page(ROOT),
    "commands": lambda: command_page(ROOT),
    "http-api": lambda: http_page(read_openapi()),
    "messages": lambda: messages_page(ROOT),
    "webhook-events": lambda: webhooks_page(ROOT),
    "audit-verbs": lambda: audit_page(ROOT),
    "formats": formats_page,
    "dialects": lambda: dialects_page(ROOT),
    "trainer": lambda: trainer_page(ROOT),
}
"""The function that writes each page, by file name."""


def main(words: list[str] | None = None) -> int:
    """Write every page into a folder, with an index."""
    parser = argparse.ArgumentParser(prog="python -m annotation_app.reference", description=__doc__)
    parser.add_argument("folder", type=Path)
    write_pages(parser.parse_args(words).folder)
    return 0


def write_pages(folder: Path) -> None:
    """Write every page into a folder, with an index. Creates the folder. Unchanged files are not rewritten."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: write() for name, write in PAGES.items()}
    texts["index"] = INDEX.format(entries="\n".join(PAGES))
    for name, text in texts.items():
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def read_openapi() -> dict[str, object]:
    """The web app's OpenAPI document. Raises CalledProcessError if Django does not start."""
    done = subprocess.run(
        [sys.executable, *OPENAPI_COMMAND], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )  # fmt: skip
    document: dict[str, object] = json.loads(done.stdout)
    return document


if __name__ == "__main__":
    sys.exit(main())
