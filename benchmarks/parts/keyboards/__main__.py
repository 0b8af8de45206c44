"""Records what a browser sends for the keys of `cases`: `python -m benchmarks.parts.keyboards ENGINE FILE -- COMMAND…`.

COMMAND starts the browser; the address of the page is added to it. FILE is a JSON list; the rows of other engines stay.
Needs Xtigervnc, openbox, setxkbmap and xclip. Keys that a browser keeps for itself make no row.
"""

import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from Xlib import X, display
from Xlib.ext.xtest import fake_input

from benchmarks.parts.keyboards.cases import CASES, KEYCODES, KeyboardCase

PAGE = Path(__file__).with_name("page.html").read_bytes()
SIZE = (1000, 700)
START_SECONDS = 90.0
QUIET_SECONDS = 0.6
"""After so long without an event a case is over."""
LAYOUT_SECONDS = 0.8
"""A browser takes so long to hear of another layout."""
KEY_SECONDS = 0.04
REPEAT_SECONDS = 1.0


class Listener:
    """Serves the page and hears what it tells."""

    def __init__(self) -> None:
        words: queue.Queue[tuple[int, str]] = queue.Queue()
        agents: queue.Queue[str] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(PAGE if self.path == "/" else b"")

            def do_POST(self) -> None:
                said = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.path == "/ready":
                    agents.put(said)
                else:
                    number, word = json.loads(said)
                    words.put((number, word))
                self._answer(b"")

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        self._words, self._agents = words, agents
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def agent(self) -> str:
        """What the browser calls itself, once it shows the page. Raises queue.Empty."""
        return self._agents.get(timeout=START_SECONDS)

    def heard(self) -> list[str]:
        """The words since the last call, once none comes any more."""
        words: list[tuple[int, str]] = []
        with contextlib.suppress(queue.Empty):
            while True:
                words.append(self._words.get(timeout=QUIET_SECONDS))
        return [word for _, word in sorted(words)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def x_server() -> Iterator[str]:
    """A display with a window manager."""
    ready, told = os.pipe()
    size = f"{SIZE[0]}x{SIZE[1]}"
    command = [
        "Xtigervnc",
        "-displayfd",
        str(told),
        "-geometry",
        size,
        "-depth",
        "24",
        "-rfbport=-1",
        "-SecurityTypes=None",
    ]
    server = subprocess.Popen(command, pass_fds=(told,), stderr=subprocess.DEVNULL)
    os.close(told)
    with open(ready) as numbers:
        name = f":{numbers.readline().strip()}"
    manager = subprocess.Popen(["openbox"], env={**os.environ, "DISPLAY": name}, stderr=subprocess.DEVNULL)
    try:
        yield name
    finally:
        for program in (manager, server):
            program.terminate()
            program.wait()


def press(server: display.Display, pressed: str) -> None:
    """Press keys as `cases` writes them."""
    for chord in pressed.split():
        held = chord.startswith("hold:")
        codes = [KEYCODES[key] for key in chord.removeprefix("hold:").split("+")]
        for event, keys in ((X.KeyPress, codes), (X.KeyRelease, codes[::-1])):
            for code in keys:
                fake_input(server, event, code)
                server.sync()
                time.sleep(KEY_SECONDS)
            if held and event == X.KeyPress:
                time.sleep(REPEAT_SECONDS)


def click(server: display.Display) -> None:
    """Click into the page, so that it has the focus."""
    fake_input(server, X.MotionNotify, x=SIZE[0] // 2, y=SIZE[1] // 2)
    for event in (X.ButtonPress, X.ButtonRelease):
        fake_input(server, event, 1)
    server.sync()


def record(name: str, case: KeyboardCase, listener: Listener, server: display.Display) -> dict[str, str]:
    """A case with the events that came."""
    layout, _, variant = case.layout.partition(":")
    environment = {**os.environ, "DISPLAY": server.get_display_name()}
    subprocess.run(["setxkbmap", "-layout", layout, "-variant", variant], env=environment, check=True)
    if case.clipboard is not None:
        subprocess.run(["xclip", "-selection", "clipboard"], env=environment, input=case.clipboard.encode(), check=True)
    time.sleep(LAYOUT_SECONDS)
    listener.heard()
    press(server, case.pressed)
    events = " ".join(listener.heard())
    return {"engine": name, "layout": case.layout, "name": case.name, "events": events, "expected": case.expected}


def keeps(events: str, case: KeyboardCase) -> bool:
    """Whether the browser kept a key for itself: the page hears only that it came up, as of Print Screen everywhere."""
    codes = {key for chord in case.pressed.split() for key in chord.removeprefix("hold:").split("+")} - {"PrintScreen"}
    words = events.split()
    told = {word[1:].partition("=")[0] for word in words if word.startswith("+")}
    composes = any(word.startswith("commit:") for word in words)
    return not composes and any(f"-{code}=" in events and code not in told for code in codes)


def record_all(name: str, command: Sequence[str]) -> list[dict[str, str]]:
    """Every case in this browser."""
    listener = Listener()
    with x_server() as number, tempfile.TemporaryDirectory(prefix="keyboard-") as home:
        environment = {**os.environ, "DISPLAY": number, "HOME": home, "XDG_RUNTIME_DIR": home, "NO_AT_BRIDGE": "1"}
        browser = subprocess.Popen([*command, listener.url], env=environment, stdout=sys.stderr, start_new_session=True)
        server = display.Display(number)
        try:
            print(listener.agent(), file=sys.stderr)
            listener.heard()
            click(server)
            rows = [record(name, case, listener, server) for case in CASES]
            return [row for row, case in zip(rows, CASES, strict=True) if not keeps(row["events"], case)]
        finally:
            os.killpg(browser.pid, 15)
            browser.wait()
            server.close()
            listener.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", help="its name with its version, such as 'Firefox 153.8.0'")
    parser.add_argument("file", type=Path)
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args()
    name = str(chosen.engine)
    rows = record_all(name, chosen.command)
    kept = json.loads(chosen.file.read_text()) if chosen.file.exists() else []
    others = [row for row in kept if row["engine"].split()[0] != name.split()[0]]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in (*others, *rows))
    chosen.file.write_text(f"[\n{lines}\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
