"""Task files of OSWorld's form, and what they name: files of a web server, an account, a browser in the guest."""

import shutil
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import RunCommand
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.osworld.host import GuestSandbox
from vm_bridge.machine import Machine

NEEDS_CHROMIUM = pytest.mark.skipif(
    shutil.which("chromium-headless-shell") is None, reason="needs chromium-headless-shell"
)
WEB = "files.example"
ACCOUNT = "evaluation_examples/settings/drive.json"
PASSWORD = "pass 'word'"
MAKING = """
import sys, docx, openpyxl
from PIL import Image, ImageDraw
folder = sys.argv[1]
for name, words in (("right", "The quick brown fox"), ("wrong", "A slow grey dog")):
    document = docx.Document()
    document.add_paragraph(words)
    document.save(f"{folder}/{name}.docx")
    book = openpyxl.Workbook()
    book.active.append([words, 1])
    book.save(f"{folder}/{name}.xlsx")
    picture = Image.new("RGB", (120, 80), "white")
    draw = ImageDraw.Draw(picture)
    draw.ellipse((10, 10, 60, 60), fill="red") if name == "right" else draw.rectangle((0, 0, 120, 50), fill="blue")
    picture.save(f"{folder}/{name}.png")
sign = Image.new("RGB", (400, 100), "white")
ImageDraw.Draw(sign).text((30, 20), "HARBOUR", "black", font_size=56)
sign.save(f"{folder}/sign.png")
"""
"""Files as office programs write them, by the libraries that the package's environment has."""


class Web:
    """A web server that has a folder, under a name that the guest's operator allows."""

    def __init__(self, folder: Path) -> None:
        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *given: Any) -> None:
                super().__init__(*given, directory=str(folder))

            def log_message(self, *_: Any) -> None:
                """Nobody reads it."""

        self.folder = folder
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"{WEB}:{self.server.server_port}"

    def url(self, name: str) -> str:
        return f"http://{self.host}/{name}"

    def there(self, name: str) -> str:
        """For the simulated guest, which has this machine's network."""
        return f"http://127.0.0.1:{self.server.server_port}/{name}"


def task(*config: dict[str, Any], **evaluator: Any) -> Task:
    """Each step's type beside its parameters."""
    steps = [{"type": each["type"], "parameters": {k: v for k, v in each.items() if k != "type"}} for each in config]
    return Task(id="one", instruction="Do.", parameters={"osworld": {"config": steps, "evaluator": evaluator}})


def brought(web: Web, **files: str) -> dict[str, Any]:
    """The step that brings files into the guest: what they are called there, and what they are in the web."""
    return {
        "type": "download",
        "files": [{"url": web.url(name), "path": f"~/{to.replace('_', '.')}"} for to, name in files.items()],
    }


def there(name: str) -> dict[str, Any]:
    return {"type": "vm_file", "path": f"~/{name}", "dest": f"found-{name}"}


def rule(rules: Any) -> dict[str, Any]:
    return {"type": "rule", "rules": rules}


def right(web: Web, name: str) -> dict[str, Any]:
    return {"type": "cloud_file", "path": web.url(name), "dest": f"right-{name}"}


async def run(machine: Machine, command: str) -> None:
    done = await machine.perform(f"command-{sha256(command.encode()).hexdigest()[:16]}", RunCommand(command=command))
    assert done.error is None, done.error


def chrome(guest: GuestSandbox) -> dict[str, Any]:
    """The step that starts one in the guest, which knows no hosts of the web."""
    words = ["chromium-headless-shell", "--no-sandbox", f"--remote-debugging-port={guest.address.split(':')[2]}"]
    words += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir=chrome", "about:blank"]
    return {"type": "launch", "command": words}
