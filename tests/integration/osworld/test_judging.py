"""OSWorld's own package judges a simulated guest from behind walls."""

import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.osworld.guests import REVERT, means_ensured, simulated_guest
from vm_bridge.hosts.osworld import GuestHost, GuestSandbox
from vm_bridge.hosts.osworld_referee import Referee
from vm_bridge.machine import Machine
from vocabulary.actions import RunCommand
from vocabulary.tasks import Task

pytestmark = [
    pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc"),
    pytest.mark.timeout(900),  # the first one installs OSWorld's package
]
WEB = "files.example"
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


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("web")
    subprocess.run([means_ensured().python, "-c", MAKING, folder], check=True, timeout=120)
    web = Web(folder)
    thread = threading.Thread(target=web.server.serve_forever)
    thread.start()
    yield web
    web.server.shutdown()
    thread.join()
    web.server.server_close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with simulated_guest(tmp_path_factory.mktemp("guest")) as address:
        yield address


@pytest_asyncio.fixture
async def guest(address: str, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GuestSandbox]:
    """Its files come from a host that is taken to be out in the public network."""

    async def resolved(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    monkeypatch.setattr(Referee, "resolver", staticmethod(resolved))
    monkeypatch.setattr(Referee, "public", staticmethod(lambda address: True))
    host = GuestHost(tmp_path, [address], REVERT, means=means_ensured(hosts=(web.host,), password="pass 'word'"))
    sandbox = await host.create("osworld")
    assert isinstance(sandbox, GuestSandbox)
    yield sandbox
    await host.close()


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


def right(web: Web, name: str) -> dict[str, Any]:
    return {"type": "cloud_file", "path": web.url(name), "dest": f"right-{name}"}


async def run(machine: Machine, command: str) -> None:
    done = await machine.perform(f"command-{hash(command):x}", RunCommand(command=command))
    assert done.error is None, done.error


@pytest.mark.parametrize(
    ("kind", "func", "options"),
    [
        ("docx", "compare_docx_files", {}),
        ("xlsx", "compare_table", {"rules": [{"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}]}),
        ("png", "check_structure_sim", {}),
    ],
)
async def test_a_file_of_an_office_or_picture_program_is_judged(
    guest: GuestSandbox, web: Web, kind: str, func: str, options: dict[str, Any]
) -> None:
    machine = guest.bind(1)
    judged = {
        "func": func,
        "options": options,
        "expected": right(web, f"right.{kind}"),
        "result": there(f"note.{kind}"),
    }
    await machine.prepare(
        task(brought(web, **{f"note_{kind}": f"wrong.{kind}", f"spare_{kind}": f"right.{kind}"}), **judged)
    )
    assert (await machine.evaluate()).success is False
    await run(machine, f"cp spare.{kind} note.{kind}")
    verdict = await machine.evaluate()
    assert (verdict.success, verdict.reason) == (True, func)
