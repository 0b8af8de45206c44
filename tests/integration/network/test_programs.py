"""Web programs of a real sandbox, seen by a person's browser through the bridge and by the sandbox's own."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
import uvicorn
from playwright.async_api import Page, async_playwright, expect

from protocol.actions.types import RunCommand, WriteFile
from protocol.trajectory.observations import Observation
from tests.integration.bridge.conftest import SECRET, bridge_redis, private_redis
from tests.waiting import eventually
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import PREVIEW_PARAMETER, TicketClaim, mint_ticket, preview_entry_path
from vm_bridge.config import Config
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Lease, Machine

__all__ = ["bridge_redis", "private_redis"]
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
INSIDE = "chromium --headless --no-sandbox --disable-gpu --dump-dom --virtual-time-budget=8000"
OPEN_INSIDE = "chromium --headless --no-sandbox --disable-gpu --remote-debugging-port=0"
"""It stays open, and its clock is not hurried."""
START_MS = 60_000
"""Longest a web program may take to its first page on a busy machine."""
FINISHED = "for i in $(seq 300); do [ -f finished.txt ] && break; sleep 0.1; done; "
numbers = count(1)


@pytest.fixture
async def local_bridge(bridge_redis: str, data: Path) -> AsyncIterator[str]:
    """The URL of a bridge over real desktops."""
    config = uvicorn.Config(
        "unset", port=0, ws="websockets-sansio", log_config=None, log_level="warning", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings = Config(
        secret=SECRET, redis_url=bridge_redis, bridge_url=url, web_origins=(url,), max_machines=1, data=data
    )
    config.app = create_bridge_app(settings, LocalHost(data))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started or serving.done())
    yield url
    server.should_exit = True
    await serving
    listener.close()


@dataclass(frozen=True)
class Desktop:
    """A leased one."""

    bridge: str
    lease: Lease
    machine: Machine

    async def run(self, command: str) -> str:
        """What a command printed."""
        action = RunCommand(command=command, timeout=60)
        done = await self.machine.perform(f"command-{next(numbers):04}", action, settle=False)
        assert done.error is None, done.error
        observation: Observation = done.after
        return observation.text or ""

    async def write(self, path: str, text: str) -> None:
        done = await self.machine.perform(f"command-{next(numbers):04}", WriteFile(path=path, text=text), settle=False)
        assert done.error is None, done.error

    def address(self, port: int, path: str = "") -> str:
        """Of a page, with a fresh ticket."""
        token = self.lease.fencing_token
        claim = TicketClaim(
            kind="proxy", user="ada", episode="e", machine_id=self.lease.machine_id, fencing_token=token
        )
        root = f"{self.bridge}{preview_entry_path(self.lease.machine_id)}/{port}/{path}"
        return f"{root}{'&' if '?' in path else '?'}{PREVIEW_PARAMETER}={mint_ticket(SECRET, claim)}"

    def service(self, name: str) -> str:
        """The address of one of the desktop's own web programs."""
        (found,) = (service for service in self.lease.capabilities.services if service.name == name)
        return self.address(found.port, found.path)


@pytest.fixture
async def desktop(local_bridge: str) -> AsyncIterator[Desktop]:
    async with BridgeClient(local_bridge, SECRET) as client:
        lease = await client.allocate(image="desktop", holder="tests", ttl=600)
        yield Desktop(local_bridge, lease, client.machine(lease))


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield await browser.new_page(viewport={"width": 1280, "height": 800})
        await browser.close()


SERVER = '''
import asyncio
from tornado import web, websocket

PAGE = """<!doctype html><title>Mine</title><h1>Built inside</h1><p id=said>nothing</p><script>
const socket = new WebSocket(new URL("socket", location.href).href.replace("http", "ws"));
socket.onopen = () => socket.send("ping");
socket.onmessage = (event) => {
  document.querySelector("#said").textContent = event.data;
  if (location.search === "?inside") fetch("shown", {method: "POST", body: document.body.innerText});
};
</script>"""

class Page(web.RequestHandler):
    def get(self):
        self.write(PAGE)

class Talk(websocket.WebSocketHandler):
    def on_message(self, message):
        self.write_message(f"heard {message}")

class Shown(web.RequestHandler):
    def post(self):
        with open("finished.txt", "wb") as file:
            file.write(self.request.body)

async def main():
    web.Application([("/", Page), ("/socket", Talk), ("/shown", Shown)]).listen(5000, "127.0.0.1")
    await asyncio.Event().wait()

asyncio.run(main())
'''


async def test_a_web_app_made_inside_is_seen_by_the_person_and_by_the_sandboxs_browser(
    desktop: Desktop, page: Page
) -> None:
    await desktop.write("server.py", SERVER)
    await desktop.run("nohup /image/tools/bin/python server.py >/dev/null 2>&1 &")
    await listening(desktop, 5000)
    await page.goto(desktop.address(5000))
    await expect(page.locator("#said")).to_have_text("heard ping")
    opened = f"{OPEN_INSIDE} http://127.0.0.1:5000/?inside >/dev/null 2>&1 &"
    assert "heard ping" in await desktop.run(f"{opened} {FINISHED} cat finished.txt; kill %1")


async def test_a_folder_served_inside_is_seen_too(desktop: Desktop, page: Page) -> None:
    await desktop.write("site/index.html", "<h1>From a folder</h1><a href='more/'>more</a>")
    await desktop.write("site/more/index.html", "<h2>And more</h2>")
    await desktop.run("cd site && nohup python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &")
    await listening(desktop, 8000)
    await page.goto(desktop.address(8000))
    await expect(page.locator("h1")).to_have_text("From a folder")
    await page.click("a")
    await expect(page.locator("h2")).to_have_text("And more")
    assert "From a folder" in await desktop.run(f"{INSIDE} http://127.0.0.1:8000/")


async def listening(desktop: Desktop, port: int) -> None:
    """Returns when something listens there."""
    wait = f"for i in $(seq 100); do (: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null && exit; sleep 0.1; done; exit 1"
    await desktop.run(f"bash -c '{wait}'")


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_jupyterlab_runs_a_notebook_and_a_terminal_on_the_sandboxs_files(desktop: Desktop, page: Page) -> None:
    await page.goto(desktop.service("jupyterlab"), timeout=START_MS)
    await page.locator(".jp-LauncherCard[data-category=Notebook]").first.click(timeout=START_MS)
    await expect(page.get_by_role("button", name="Python 3 (ipykernel) | Idle")).to_be_visible(timeout=START_MS)
    cell = page.locator(".jp-Notebook .jp-CodeCell .cm-content").first
    await cell.fill("open('made-in-jupyter.txt', 'w').write('by the kernel'); 6 * 7")
    await page.keyboard.press("Shift+Enter")
    await expect(page.locator(".jp-OutputArea-output", has_text="42")).to_be_visible(timeout=START_MS)
    assert await desktop.run("cat made-in-jupyter.txt") == "by the kernel"
    await page.get_by_role("button", name="New Launcher (Ctrl+Shift+L)").click()
    await page.locator(".jp-LauncherCard", has_text="Terminal").click(timeout=START_MS)
    await page.locator(".jp-Terminal .xterm-screen").click(timeout=START_MS)
    await page.keyboard.type("cp made-in-jupyter.txt copied.txt; echo done > finished.txt\n")
    assert await desktop.run(FINISHED + "cat copied.txt") == "by the kernel"


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_code_editor_edits_a_file_and_has_a_terminal(desktop: Desktop, page: Page) -> None:
    await desktop.write("hello.py", "print('hello')\n")
    await page.goto(desktop.service("editor"), timeout=START_MS)
    await page.get_by_role("treeitem", name="hello.py").click(timeout=START_MS)
    editor = page.locator(".monaco-editor .view-line", has_text="hello").first
    await editor.click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("print('from the editor')")
    await expect(page.locator(".monaco-editor .view-line", has_text="from the editor")).to_be_visible()
    await page.keyboard.press("Control+S")
    saved = "for i in $(seq 300); do grep -q editor hello.py && break; sleep 0.1; done; cat hello.py"
    assert "from the editor" in await desktop.run(saved)
    await page.keyboard.press("Control+Backquote")
    keys = page.locator(".terminal-wrapper.active .xterm-helper-textarea")
    await keys.wait_for(state="attached", timeout=START_MS)
    for _ in range(3):  # what is typed while the editor still opens its terminal may go elsewhere
        await page.locator(".terminal-wrapper.active .xterm-screen").click()
        await expect(keys).to_be_focused()
        await page.keyboard.type("python3 hello.py > ran.txt; echo done > finished.txt\n")
        if "done" in await desktop.run(FINISHED + "[ -f finished.txt ] && cat finished.txt || true"):
            break
    assert (await desktop.run("cat ran.txt")).split() == ["hello", "from", "the", "editor"]


async def test_what_the_browser_downloads_is_there_for_the_shell_and_the_other_way_round(desktop: Desktop) -> None:
    await desktop.write("site/report.bin", "downloaded by the browser")
    await desktop.run("cd site && nohup python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &")
    await listening(desktop, 8000)
    await desktop.run("nohup chromium http://127.0.0.1:8000/report.bin >/dev/null 2>&1 &")
    wait = "for i in $(seq 300); do [ -f ~/Downloads/report.bin ] && break; sleep 0.1; done; cat ~/Downloads/report.bin"
    assert await desktop.run(wait) == "downloaded by the browser"
    await desktop.run("echo '<h1>Written by the shell</h1>' > page.html; pkill chromium || true")
    assert "Written by the shell" in await desktop.run(f"{INSIDE} file://$HOME/page.html")


async def test_what_nobody_uses_is_not_started(desktop: Desktop) -> None:
    told = await desktop.run("ps -eo args")
    assert not [name for name in ("jupyterlab", "code-server", "guest.linux.port_forwarder") if name in told]
    assert [service.name for service in desktop.lease.capabilities.services] == ["jupyterlab", "editor"]
