"""OSWorld's in-guest interface over a folder: what it answers, and that what fails is an answer too."""

import json
import os
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from PIL import Image
from Xlib.error import BadDrawable

from vm_bridge.guest.osworld import LOOPBACK
from vm_bridge.guest.osworld.api import Call, GuestApi, Reply
from vm_bridge.guest.osworld.main import GuestServer
from vm_bridge.guest.osworld.screenshots import encode_png

PIXELS = bytes((10, 20, 30, 0)) * 5 + bytes((200, 100, 50, 0)) * 5
"""Two rows of five pixels: blue, green, red and one that is ignored."""


class FolderDesktop:
    """A desktop without a screen."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(home)}
        self.wallpaper: Path | None = None
        self.launched: list[str | list[str]] = []

    def screenshot(self) -> bytes:
        return encode_png(PIXELS, 5, 2)

    def screen_size(self) -> tuple[int, int]:
        return 5, 2

    def launch(self, argv: str | list[str], *, shell: bool = False) -> None:
        if argv == ["missing"]:
            raise FileNotFoundError("missing")
        self.launched.append(argv)

    def opener(self, path: Path) -> list[str]:
        return ["show", str(path)]


@pytest.fixture
def desktop(tmp_path: Path) -> FolderDesktop:
    return FolderDesktop(tmp_path)


@pytest.fixture
def api(desktop: FolderDesktop) -> GuestApi:
    return GuestApi(desktop)


def post(api: GuestApi, call: str, /, **given: Any) -> Reply:
    return api.handle("POST", Call(call, "application/json", json.dumps(given).encode()))


@pytest.fixture
def client(api: GuestApi) -> Iterator[httpx.Client]:
    with GuestServer((LOOPBACK, 0), api) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        with httpx.Client(base_url=f"http://{LOOPBACK}:{server.server_port}", trust_env=False) as client:
            yield client
        server.shutdown()
        thread.join()


def test_a_picture_has_the_pixels_of_the_screen(client: httpx.Client) -> None:
    answer = client.get("/screenshot")
    assert answer.headers["content-type"] == "image/png"
    image = Image.open(BytesIO(answer.content))
    assert (image.size, image.getpixel((4, 0)), image.getpixel((0, 1))) == ((5, 2), (30, 20, 10), (50, 100, 200))
    assert client.post("/screen_size").json() == {"width": 5, "height": 2}


def test_a_file_goes_in_and_comes_out_whole(client: httpx.Client, desktop: FolderDesktop) -> None:
    data = bytes(range(256)) * 300 + b"\r\n--x\r\n"
    sent = client.post("/setup/upload", data={"file_path": "~/new/a b.bin"}, files={"file_data": ("x", data)})
    assert sent.status_code == 200
    assert (desktop.home / "new" / "a b.bin").read_bytes() == data
    assert client.post("/file", data={"file_path": "new/a b.bin"}).content == data
    assert client.post("/file", data={"file_path": "nothing"}).status_code == 404
    assert client.post("/setup/upload", data={"file_path": "x"}, files={"other": ("x", b"")}).status_code == 400


def test_a_command_of_words_finds_the_home_folder_and_one_of_a_shell_is_a_line(api: GuestApi) -> None:
    words = json.loads(post(api, "/execute", command=["echo", "~/notes"]).body)
    assert words["output"].endswith("/notes\n")
    assert "~" not in words["output"]
    line = json.loads(post(api, "/execute", command="echo one; exit 3", **{"shell": True}).body)
    assert (line["output"], line["returncode"]) == ("one\n", 3)


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("/execute", {"command": ["no-such-program"]}, "no-such-program"),
        ("/setup/launch", {"command": ["missing"]}, "missing"),
        ("/list_directory", {}, "path"),
        ("/setup/change_wallpaper", {"path": 5}, "int"),
    ],
)
def test_what_fails_is_an_answer_that_says_why(api: GuestApi, path: str, given: dict[str, Any], said: str) -> None:
    reply = post(api, path, **given)
    assert reply.status == 500
    answer = json.loads(reply.body)
    assert answer["status"] == "error"
    assert said in answer["message"]


def test_what_nobody_knows_and_what_is_no_object_is_refused(api: GuestApi) -> None:
    assert api.handle("GET", Call("/execute", "", b"")).status == 404
    assert api.handle("POST", Call("/start_recording", "", b"")).status == 404
    assert api.handle("POST", Call("/execute", "application/json", b"[1]")).status == 500
    assert api.handle("POST", Call("/execute", "application/json", b"\xff")).status == 500


def test_an_error_nobody_expects_is_an_answer_and_the_connection_lives(client: httpx.Client, api: GuestApi) -> None:
    def fail(call: Call) -> Reply:
        raise BadDrawable(None, b"\0\t" + bytes(30))

    api.handlers["GET", "/platform"] = fail
    assert client.get("/platform").status_code == 500
    assert client.get("/terminal").json()["status"] == "success"


def test_a_body_beyond_the_bound_is_refused_unread(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vm_bridge.guest.osworld.main.MAX_BODY_BYTES", 10)
    assert client.post("/execute", content=b"x" * 11).status_code == 413


def test_a_program_lives_on_and_a_command_is_verified(api: GuestApi, desktop: FolderDesktop) -> None:
    assert post(api, "/setup/launch", command="show it").status == 200
    assert desktop.launched == [["show", "it"]]
    verification = {"command_success": f"test -e {desktop.home}/made"}
    made = post(api, "/setup/execute_with_verification", command=["touch", "made"], verification=verification)
    assert json.loads(made.body)["verification"] == "passed"
    (desktop.home / "made").unlink()
    late = post(
        api,
        "/setup/execute_with_verification",
        command=["true"],
        verification=verification,
        max_wait_time=0,
        check_interval=0,
    )
    assert late.status == 500
