"""OSWorld's own package judges a simulated guest from behind walls."""

import asyncio
import json
import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.osworld.guests import REVERT, means_ensured, simulated_guest
from vm_bridge.drivers.osworld_task import NAMES
from vm_bridge.errors import MachineGone, UnsupportedTask, VerifierFailed
from vm_bridge.hosts import osworld_program, osworld_referee
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
SIGN = {"type": "text", "text": "HARBOUR"}


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
    """With ports of its own for Chrome and VLC."""
    with simulated_guest(tmp_path_factory.mktemp("guest")) as address, ExitStack() as held:
        free = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(2)]
        held.close()
        yield f"{address}:{free[0]}:0:{free[1]}"


@pytest_asyncio.fixture
async def guest(address: str, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GuestSandbox]:
    """Its files come from a host that is taken to be out in the public network."""

    async def resolved(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    monkeypatch.setattr(Referee, "resolver", staticmethod(resolved))
    monkeypatch.setattr(Referee, "public", staticmethod(lambda address: True))
    host = GuestHost(tmp_path, [address], REVERT, means=means_ensured(hosts=(web.host,), password=PASSWORD))
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


def rule(rules: Any) -> dict[str, Any]:
    return {"type": "rule", "rules": rules}


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


async def test_many_kinds_of_values_after_a_postconfig(guest: GuestSandbox, web: Web) -> None:
    """Several files at once, windows, the wallpaper, a folder, what a step kept, and what a player says."""
    machine = guest.bind(1)
    told = await machine.perform("home-command", RunCommand(command="printf %s $HOME"))
    home = Path(told.after.text or "")
    pictures = ["right.png", "wrong.png"]
    status = "<root><state>playing</state><information><category name='meta'><info name='filename'>a.mp4</info>"
    status += "</category></information></root>"
    player = f'mkdir -p vlc/requests photos; echo "{status}" > vlc/requests/status.xml'
    player += "; touch photos/a.jpg; ln -s . photos/me"
    judged: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "compare_image_list": (
            {"type": "vm_file", "path": ["~/a.png", "~/b.png"], "dest": ["a", "b"], "multi": True, "gives": [0, 1]},
            {"type": "cloud_file", "path": [*map(web.url, pictures)], "dest": pictures, "multi": True, "gives": [0, 1]},
        ),
        "check_accessibility_tree": ({"type": "accessibility_tree"}, rule([{"selectors": ["frame[name=Verified]"]}])),
        "exact_match": ({"type": "vm_screen_size"}, rule({"expected": {"width": 1280, "height": 800}})),
        "check_structure_sim": ({"type": "vm_wallpaper", "dest": "wall"}, right(web, "right.png")),
        "check_moved_jpgs": (
            {"type": "list_directory", "path": str(home / "photos")},
            rule({"expected": ["a.jpg", "me"]}),
        ),
        "check_list": ({"type": "cache_file", "path": "kept.txt"}, rule({"expect": ["^hello$"]})),
        "is_vlc_playing": (
            {"type": "vlc_playing_info", "dest": "status.xml"},
            rule({"type": "file_name", "file_name": "a.mp4"}),
        ),
    }
    window = {"command": "xterm -T Verified > /dev/null 2>&1 &", "verification": {"window_exists": "Verified"}}
    await machine.prepare(
        task(
            brought(web, c_png="right.png", wall_png="right.png"),
            {"type": "execute", "command": player, "shell": True},
            {"type": "execute", "command": ["echo", "hello"], "stdout": "kept.txt"},
            {"type": "launch", "command": ["python", "-m", "http.server", "-d", "vlc", guest.address.split(":")[-1]]},
            {"type": "execute_with_verification", "shell": True, **window},
            {"type": "change_wallpaper", "path": "~/wall.png"},
            func=list(judged),
            result=[found for found, _ in judged.values()],
            expected=[expected for _, expected in judged.values()],
            postconfig=[
                {"type": "execute", "parameters": {"command": "cp c.png a.png; cp d.png b.png", "shell": True}}
            ],
        )
    )
    assert (await machine.evaluate()).success is False, "there is no second picture yet"
    await run(machine, f"python -c \"import urllib.request as u; u.urlretrieve('{web.there('wrong.png')}', 'd.png')\"")
    verdict = await machine.evaluate()
    assert (verdict.success, verdict.score) == (True, 1.0), verdict


async def test_one_of_several_checks_is_enough_and_a_password_is_put_in(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    says = {"type": "vm_command_line", "command": ["cat", "password.txt"]}
    write = [
        "python",
        "-c",
        "import sys; print(sys.argv[1], end='', file=open('password.txt', 'w'))",
        "{CLIENT_PASSWORD}",
    ]
    await machine.prepare(
        task(
            {"type": "execute", "command": write},
            func=["exact_match", "exact_match"],
            conj="or",
            result=[says, says],
            expected=[rule({"expected": "nothing"}), rule({"expected": PASSWORD})],
        )
    )
    assert (await machine.evaluate()).success is True
    await run(machine, "echo > password.txt")
    assert (await machine.evaluate()).success is False


async def test_text_in_a_picture_is_read_where_ocr_is_installed(guest: GuestSandbox, web: Web) -> None:
    machine = guest.bind(1)
    asked = task(
        brought(web, sign_png="sign.png"), func="compare_image_text", result=there("sign.png"), expected=rule(SIGN)
    )
    if not means_ensured().reads_pictures:
        with pytest.raises(UnsupportedTask, match="compare_image_text"):
            await machine.prepare(asked)
        return
    await machine.prepare(asked)
    assert (await machine.evaluate()).success is True


async def test_a_metric_that_raises_leaves_the_task_unjudged(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.prepare(
        task(func="check_accessibility_tree", result={"type": "accessibility_tree"}, expected=rule([{}]))
    )
    with pytest.raises(VerifierFailed, match="At least one of xpath and selectors"):
        await machine.evaluate()


async def test_what_a_metric_runs_is_behind_walls(guest: GuestSandbox, web: Web, tmp_path: Path) -> None:
    """It reaches the guest and the allowed host; no file of this machine, no port of it, no other host."""
    (tmp_path / "secret").touch()
    suite = f"""
import os, pathlib, socket, urllib.error, urllib.request
def told(url):
    try:
        return urllib.request.urlopen(url, timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code
def test():
    try:
        socket.create_connection(("127.0.0.1", {web.server.server_port}), 5)
    except ConnectionRefusedError:
        pass
    else:
        return False
    ways = [told(url) for url in ("http://127.0.0.1:5000/platform", "{web.url("right.png")}", "http://other.example/")]
    return ways == [200, 200, 403] and not os.path.exists("{tmp_path}/secret") and os.getuid() == 1000
"""
    (web.folder / "suite.py").write_text(suite)
    found = {"type": "vm_file", "path": "~/suite.py", "dest": "suite.py"}
    machine = guest.bind(1)
    await machine.prepare(
        task(brought(web, suite_py="suite.py"), func="check_python_file_by_test_suite", result=found, expected=found)
    )
    assert (await machine.evaluate()).success is True
    await run(machine, "echo 'def test(): return False' > suite.py")
    assert (await machine.evaluate()).success is False


async def test_what_takes_too_long_is_ended_with_all_it_started(
    guest: GuestSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = guest.bind(1)
    monkeypatch.setattr(osworld_referee, "SECONDS", 6.0)
    for_ever = {"type": "execute", "command": ["true"], "until": {"returncode": 1}}
    preparing = asyncio.create_task(machine.prepare(task(for_ever, func="infeasible")))
    async with asyncio.timeout(60):
        while not (guest.referee.folder and behind_walls(guest.referee.folder)):  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.1)
    with pytest.raises(MachineGone, match="did not end within 6 s"):
        await preparing
    async with asyncio.timeout(60):
        while behind_walls(guest.referee.folder):  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(0.1)


async def test_a_host_that_is_not_allowed_is_refused_before_anything_changes(guest: GuestSandbox, web: Web) -> None:
    machine = guest.bind(1)
    await run(machine, "touch kept.txt")
    url = {"url": "https://elsewhere.example/a", "path": "~/a"}
    with pytest.raises(UnsupportedTask, match=r"download fetches from elsewhere\.example"):
        await machine.prepare(task({"type": "download", "files": [url]}, func="infeasible"))
    await run(machine, "test -e kept.txt")


@pytest.mark.skipif(shutil.which("chromium-headless-shell") is None, reason="needs chromium-headless-shell")
async def test_pages_are_opened_and_judged_over_chromes_debugging_port(guest: GuestSandbox, web: Web) -> None:
    machine = guest.bind(1)
    pages = [web.there(f"{name}.html") for name in ("one", "two", "three")]
    for page in pages:
        (web.folder / page.rpartition("/")[2]).write_text("<title>A page</title>")
    chrome = ["chromium-headless-shell", "--no-sandbox", f"--remote-debugging-port={guest.address.split(':')[2]}"]
    await machine.prepare(
        task(
            {"type": "launch", "command": [*chrome, "--user-data-dir=chrome", "about:blank"]},
            {"type": "chrome_open_tabs", "urls_to_open": pages},
            {"type": "chrome_close_tabs", "urls_to_close": [pages[2]]},
            func="is_expected_tabs",
            result={"type": "open_tabs_info"},
            expected=rule({"type": "url", "urls": pages[:2]}),
        )
    )
    assert (await machine.evaluate()).success is True


def test_every_name_of_the_package_is_known_here() -> None:
    asked = subprocess.run(
        [means_ensured().python, osworld_program.__file__],
        input='{"do": "names"}',
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    has = json.loads(asked.stdout)
    assert {kind: frozenset(has[kind]) for kind in NAMES} == NAMES
    assert {kind: len(names) for kind, names in NAMES.items()} == {"metrics": 137, "getters": 54, "steps": 20}


def behind_walls(folder: Path | None) -> list[str]:
    """Programs that see a task's folder."""
    assert folder is not None
    found = []
    for mounts in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):
            if f"/{folder.name}/cache " in mounts.read_text():
                found.append(mounts.parent.name)
    return found
