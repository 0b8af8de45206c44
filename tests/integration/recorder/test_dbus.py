"""The D-Bus client, the tray and accessibility at a real bus, with programs that answer as real ones do."""

import os
import queue
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.parts.recorder.accessibility import private_bus
from recorder.pilothouse_recorder.clocks import SECOND, now_ns
from recorder.pilothouse_recorder.dbus.connection import SESSION_BUS, Connection, DBusError
from recorder.pilothouse_recorder.dbus.status_item import (
    ITEM,
    ITEM_PATH,
    MENU,
    MENU_PATH,
    PROPERTIES,
    WATCHER,
    StatusItem,
)
from recorder.pilothouse_recorder.dbus.wire import Message, Variant
from recorder.pilothouse_recorder.elements import LATEST_NS, TIME_BOX_NS, ElementWatcher
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.pairing import POOLS
from recorder.pilothouse_recorder.tray import Tray, run_tray
from recorder.pilothouse_recorder.tray_icon import Look, MenuEntry
from recorder.pilothouse_recorder.window_texts import ENGLISH
from recorder.pilothouse_recorder.x11.accessibility import NOTHING, REGISTRY, ROOT, open_finder
from tests.integration.recorder.bus import Answer, Program
from tests.waiting import wait_until

APP = "org.example.App"
STATE = "org.a11y.atspi.Event.Object"
FRAME, BUTTON, SECRET = "/frame", "/button", "/secret"


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if shutil.which("dbus-daemon") is None:
        pytest.skip("dbus-daemon is not installed")
    with private_bus(tmp_path) as address:
        monkeypatch.setenv(SESSION_BUS, address)
        yield address


def test_calls_errors_and_silence(bus: str) -> None:
    held = threading.Event()

    def reply(message: Message) -> Answer | None:
        if message.member == "Wait":
            held.wait(10)
        return ("s", (message.body[0] + "!",)) if message.member == "Greet" else None

    with Program(bus, reply, APP):
        client = Connection(bus)
        assert client.call(APP, "/", APP, "Greet", "s", "日本") == ("日本!",)
        with pytest.raises(DBusError) as caught:
            client.call(APP, "/", APP, "Dance")
        assert caught.value.name.endswith("UnknownMethod")
        with pytest.raises(DBusError) as caught:
            client.call("org.example.Nobody", "/", APP, "Greet", "s", "")
        assert caught.value.name.endswith("ServiceUnknown")
        with pytest.raises(DBusError) as caught:
            client.call(APP, "/", APP, "Wait", seconds=0.05)
        assert caught.value.name == "timeout"
        held.set()
        assert client.call(APP, "/", APP, "Greet", "s", "later") == ("later!",)
        client.close()


def test_a_bus_that_is_not_there_is_told() -> None:
    with pytest.raises(DBusError):
        Connection("unix:path=/nowhere;tcp:host=a")


class Panel:
    """A desktop's tray: it takes items, and asks them for what they show."""

    def __init__(self, address: str) -> None:
        self.items: queue.Queue[str] = queue.Queue()
        self._address = address

    def reply(self, message: Message) -> Answer | None:
        if message.member == "RegisterStatusNotifierItem":
            self.items.put(message.body[0])
            return "", ()
        return None

    def __enter__(self) -> "Panel":
        self._program = Program(self._address, self.reply, WATCHER).__enter__()
        self.asking = Connection(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        self.asking.close()
        self._program.__exit__()


def labels(layout: Any) -> list[Any]:
    _, properties, below = layout
    own = properties.get("label", properties.get("type", ""))
    return [own, *(labels(one) for one in below)]


def run_in_background(item: Any, round_: Any) -> tuple[threading.Thread, threading.Event]:
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            round_()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, ended


def test_a_tray_shows_the_icon_and_its_entries_are_chosen(bus: str) -> None:
    chosen: queue.Queue[str] = queue.Queue()
    tasks = (MenuEntry("table", "start:table"), MenuEntry("flight_1", "start:flight_1"))
    idle = Look(
        "idle",
        "Nothing is recorded",
        (MenuEntry("Start", entries=tasks), MenuEntry(""), MenuEntry("Quit", "quit")),
    )
    with Panel(bus) as panel:
        connection = Connection(bus)
        item = StatusItem(connection, "Recorder", idle, chosen.put)
        thread, ended = run_in_background(item, lambda: item.process(0.01))
        name = panel.items.get(timeout=10)
        asking = panel.asking
        (shown,) = asking.call(name, ITEM_PATH, PROPERTIES, "GetAll", "s", ITEM)
        assert (shown["IconName"], shown["Title"], shown["Menu"], shown["ItemIsMenu"]) == (
            "media-playback-stop", "Recorder", MENU_PATH, True,
        )  # fmt: skip
        assert asking.get(name, ITEM_PATH, ITEM, "ToolTip")[3] == "Nothing is recorded"
        revision, layout = asking.call(name, MENU_PATH, MENU, "GetLayout", "iias", 0, -1, [])
        assert labels(layout) == ["", ["Start", ["table"], ["flight__1"]], ["separator"], ["Quit"]]
        assert len(asking.call(name, MENU_PATH, MENU, "GetGroupProperties", "aias", [1, 3, 99], [])[0]) == 2
        asking.call(name, MENU_PATH, MENU, "Event", "isvu", 3, "clicked", Variant("i", 0), 0)
        asking.call(name, MENU_PATH, MENU, "Event", "isvu", 1, "clicked", Variant("i", 0), 0)
        assert chosen.get(timeout=10) == "start:flight_1"
        ended.set()
        thread.join()
        item.show(Look("recording", "Recording", (MenuEntry("Pause", "pause"),)))
        thread, ended = run_in_background(item, lambda: item.process(0.01))
        again, layout = asking.call(name, MENU_PATH, MENU, "GetLayout", "iias", 0, 1, [])
        assert (again, labels(layout)) == (revision + 1, ["", ["Pause"]])
        ended.set()
        thread.join()
        connection.close()
    assert chosen.empty()


class FakeClient:
    """A recorder client that notes what it is asked for."""

    def __init__(self) -> None:
        self.answers: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.sent: list[Any] = []

    def start(self, options: list[str]) -> None:
        self.sent.append(options)

    def send(self, command: str, **more: Any) -> None:
        self.sent.append((command, more))


def test_the_tray_starts_pauses_marks_and_stops_a_recording(bus: str, tmp_path: Path) -> None:
    (tmp_path / POOLS).write_text('[{"id": 3, "name": "Office", "briefs": [{"key": "table", "instruction": "Book"}]}]')
    client: Any = FakeClient()
    with Panel(bus) as panel:
        connection = Connection(bus)
        tray = Tray(tmp_path, client, ENGLISH, partial(StatusItem, connection))
        name = panel.items.get(timeout=10)

        def seen() -> list[Any]:
            thread, ended = run_in_background(tray, tray.round)
            _, layout = panel.asking.call(name, MENU_PATH, MENU, "GetLayout", "iias", 0, -1, [])
            ended.set()
            thread.join()
            return labels(layout)

        assert ["Start", ["Office: table"]] in seen()
        tray.choose("start:table")
        client.answers.put(("status", {"reason": None, "recording": True, "voice": "off"}))
        tray.round()
        assert ["Pause"] in seen()
        assert seen()[1] == ["Recording screen and input"]
        client.answers.put(("status", {"reason": "paused", "recording": False, "voice": "off"}))
        tray.round()
        assert ["Resume"] in seen()
        for choice in ("mark", "success"):
            tray.choose(choice)
        client.answers.put(("failed", "no_consent: Read it"))
        tray.round()
        assert seen()[1] == ["Failed: no__consent: Read it"]
        connection.close()
    assert client.sent == [["--task=table"], ("mark", {}), ("stop", {"outcome": "success"})]


def test_a_desktop_without_a_tray_is_told(bus: str, tmp_path: Path) -> None:
    with pytest.raises(RecorderError) as caught:
        run_tray(tmp_path, "en")
    assert caught.value.code == "no_tray"


class Accessible:
    """The accessibility bus with one program: a window with a button and a password field."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.registered: list[str] = []
        self.focused = {SECRET: True}
        self.held: threading.Event | None = None
        self.program = Program(address, self.answer)

    def registry(self, message: Message) -> Answer | None:
        match message.member:
            case "GetAddress":
                return "s", (self._address,)
            case "RegisterEvent":
                self.registered.append(message.body[0])
                return "", ()
            case "GetChildren":
                return "a(so)", ([(self.program.bus.name, ROOT)],)
        return None

    def answer(self, message: Message) -> Answer | None:
        if self.held is not None:
            self.held.wait(10)
        match message.member:
            case "GetChildren":
                return "a(so)", ([(self.program.bus.name, FRAME)],)
            case "GetExtents":
                return "(iiii)", ((10, 20, 300, 200) if message.path == FRAME else (20, 30, 80, 24),)
            case "GetState":
                focused = self.focused.get(message.path, False)
                return "au", ([1 << 1 | int(focused) << 12, 0],)
            case "GetAccessibleAtPoint":
                found = BUTTON if message.path == FRAME else NOTHING
                return "(so)", ((self.program.bus.name, found),)
            case "GetRoleName":
                return "s", ("push button",)
            case "GetRole":
                return "u", (40 if message.path == SECRET else 61,)
            case "Get":
                return "v", (Variant("s", "Save"),)
        return None

    def focus(self, path: str, *, gained: bool) -> None:
        values: tuple[Any, ...] = ("focused", int(gained), 0, Variant("i", 0), {})
        self.program.emit(path, STATE, "StateChanged", "siiva{sv}", *values)


@pytest.fixture
def accessible(bus: str) -> Iterator[Accessible]:
    world = Accessible(bus)
    with Program(bus, world.registry, "org.a11y.Bus", REGISTRY), world.program:
        yield world


def test_the_innermost_element_under_a_point_is_found(accessible: Accessible) -> None:
    finder = open_finder()
    found = finder.element_at(25, 35, os.getpid(), now_ns() + SECOND)
    assert found is not None
    assert (found.role, found.name, found.bounds) == ("button", "Save", (20, 30, 80, 24))
    assert finder.element_at(900, 900, os.getpid(), now_ns() + SECOND) is None
    assert finder.element_at(25, 35, 1, now_ns() + SECOND) is None
    assert accessible.registered == ["object:state-changed:focused", "object:text-changed:insert"]
    finder.close()


def test_a_program_that_does_not_answer_has_no_elements(accessible: Accessible) -> None:
    finder = open_finder()
    accessible.held = threading.Event()
    assert finder.element_at(25, 35, os.getpid(), now_ns() + TIME_BOX_NS) is None
    accessible.held.set()
    wait_until(lambda: finder.element_at(25, 35, os.getpid(), now_ns() + SECOND))
    finder.close()


def test_the_element_is_added_to_a_press_in_the_background(accessible: Accessible) -> None:
    watcher = ElementWatcher(open_finder)

    def described() -> bool:
        press = Event("pointer.down", now_ns(), "x_server", 0, {"x": 25, "y": 35})
        watcher.describe(press, os.getpid())
        wait_until(lambda: "element" in press.data or now_ns() - press.t_ns > 2 * LATEST_NS)
        found: dict[str, Any] = press.data.get("element", {"late_ns": 0, "role": ""})
        assert 0 <= found["late_ns"] <= LATEST_NS
        return bool(found["role"] == "button")

    wait_until(described)
    watcher.close()


def test_a_password_field_is_known_while_it_has_the_focus(accessible: Accessible) -> None:
    watcher = ElementWatcher(open_finder)
    wait_until(lambda: accessible.registered)
    accessible.focus(BUTTON, gained=True)
    accessible.focus(SECRET, gained=True)
    wait_until(lambda: watcher.password_focused)
    accessible.focus(SECRET, gained=False)
    wait_until(lambda: not watcher.password_focused)
    accessible.focus(SECRET, gained=True)
    wait_until(lambda: watcher.password_focused)
    accessible.focused[SECRET] = False  # its window was closed, and nothing told
    wait_until(lambda: not watcher.password_focused)
    watcher.close()


def test_a_session_without_accessibility_has_no_elements(bus: str) -> None:
    watcher = ElementWatcher(open_finder)
    press = Event("pointer.down", now_ns(), "x_server", 0, {"x": 1, "y": 1})
    watcher.describe(press, 1)
    watcher.close()
    assert "element" not in press.data
    assert not watcher.password_focused
