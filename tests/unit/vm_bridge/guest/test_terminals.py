"""Interactive terminals in their own process, as inside a sandbox: shells, programs, what they show."""

import base64
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte
import pytest

import vm_bridge
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.terminals.screen import TerminalScreen, render_screen, screen_text
from vm_bridge.guest.linux.helper_process import HelperProcess

BOUND = 30.0


@contextmanager
def start_helper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HelperProcess]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(vm_bridge.__file__).parent.parent))
    (tmp_path / ".bashrc").write_text("PS1='$ '\nbind 'set enable-bracketed-paste off'\n")
    companion = HelperProcess("the terminals", (sys.executable, "-m", "vm_bridge.guest.linux.terminals.server"))
    yield companion
    companion.end()


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HelperProcess]:
    with start_helper(monkeypatch, tmp_path) as companion:
        yield companion


def typed(terminals: HelperProcess, text: str, session: str = "main") -> str:
    shown: str = terminals.call("type", timeout=BOUND, session=session, text=text)["text"]
    return shown


def until(terminals: HelperProcess, wanted: str, session: str = "main") -> str:
    """What is shown once it holds this."""
    ends = time.monotonic() + BOUND
    while wanted not in (shown := typed(terminals, "", session)):
        assert time.monotonic() < ends, shown
    return shown


def polled(terminals: HelperProcess, offsets: dict[str, int], wait: float = 10) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = terminals.call("poll", timeout=BOUND, offsets=offsets, wait=wait)["frames"]
    return frames


def test_a_shell_keeps_its_state_and_others_are_apart(terminals: HelperProcess) -> None:
    typed(terminals, "cd / && x=42\n")
    typed(terminals, "echo $PWD $x\n")
    assert "/ 42" in until(terminals, "/ 42")
    typed(terminals, "echo [$x]\n", "other")
    assert "[]" in until(terminals, "[]", "other")


def test_a_program_is_talked_to_and_interrupted(terminals: HelperProcess) -> None:
    typed(terminals, f"{sys.executable} -q\n")
    until(terminals, ">>>")
    typed(terminals, "6 * 7\n")
    assert "42" in until(terminals, "42")
    typed(terminals, "import time; time.sleep(600)\n")
    typed(terminals, "\x03")
    until(terminals, "KeyboardInterrupt")
    typed(terminals, "\x04")
    typed(terminals, "echo ba''ck\n")
    until(terminals, "back")


def test_ctrl_c_works_though_the_platform_ignores_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As it does where it was started in the background."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with start_helper(monkeypatch, tmp_path) as terminals:
            typed(terminals, "sleep 600; echo st''opped $?\n")
            typed(terminals, "\x03")
            typed(terminals, "echo ba''ck\n")
            until(terminals, "back")
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_shell_that_ended_says_so_and_begins_anew(terminals: HelperProcess) -> None:
    assert "[the shell ended with status 3]" in typed(terminals, "exit 3\n")
    assert "ended" not in typed(terminals, "")


def test_output_without_end_is_cut_short_and_bounded(terminals: HelperProcess) -> None:
    shown = typed(terminals, "yes | head -c 30000000\n")
    assert len(shown) <= 4_000
    typed(terminals, "\x03")
    typed(terminals, "echo qui''et\n")
    until(terminals, "quiet")


def test_a_viewer_gets_the_screen_first_and_then_what_comes(terminals: HelperProcess) -> None:
    typed(terminals, "echo fir''st\n")
    until(terminals, "first")
    (frame,) = polled(terminals, {})
    assert b"first" in base64.b64decode(frame["data"])
    terminals.call("write", timeout=BOUND, session="main", text="echo sec''ond\n")
    offsets, seen = {"main": frame["end"]}, b""
    while b"second" not in seen:
        for news in polled(terminals, offsets):
            offsets[news["session"]] = news["end"]
            seen += base64.b64decode(news["data"])
    assert b"first" not in seen, "only what is new"


def test_a_viewer_who_lags_gets_the_screen_instead_of_a_backlog(terminals: HelperProcess) -> None:
    typed(terminals, "")
    (frame,) = polled(terminals, {})
    typed(terminals, "head -c 900000 /dev/zero | tr '\\0' x; echo; echo do''ne\n")
    until(terminals, "done")
    (late,) = polled(terminals, {"main": frame["end"]})
    data = base64.b64decode(late["data"])
    assert data.startswith(b"\x1bc")
    assert len(data) < 400_000


def test_sizes_reach_the_program_and_the_viewers(terminals: HelperProcess) -> None:
    typed(terminals, "")
    offsets = {frame["session"]: frame["end"] for frame in polled(terminals, {})}
    terminals.call("resize", timeout=BOUND, session="main", columns=70, rows=20)
    assert [(f["columns"], f["rows"]) for f in polled(terminals, offsets)] == [(70, 20)]
    typed(terminals, "stty size\n")
    until(terminals, "20 70")
    with pytest.raises(ActionFailed) as failed:
        terminals.call("resize", timeout=BOUND, session="main", columns=100_000, rows=20)
    assert failed.value.code == "bad_size"


def test_a_closed_terminal_is_gone_with_its_programs(terminals: HelperProcess, tmp_path: Path) -> None:
    typed(terminals, "sleep 600 & echo $! > pid\n")
    (frame,) = polled(terminals, {})
    terminals.call("close", timeout=BOUND, session="main")
    assert terminals.call("list", timeout=BOUND) == {"terminals": []}
    assert polled(terminals, {"main": frame["end"]})[0]["rows"] == 0
    with pytest.raises(ActionFailed) as failed:
        terminals.call("read", timeout=BOUND, session="main")
    assert failed.value.code == "no_such_terminal"


def test_there_is_an_end_to_terminals(terminals: HelperProcess) -> None:
    for number in range(8):
        typed(terminals, "", f"t{number}")
    with pytest.raises(ActionFailed) as failed:
        typed(terminals, "", "one-more")
    assert failed.value.code == "too_many"


def test_a_full_screen_program_hides_the_shell_and_gives_it_back() -> None:
    screen = TerminalScreen(20, 4)
    stream = pyte.Stream(screen)
    stream.feed("$ vi\r\n\x1b[?1049h\x1b[2J\x1b[Hediting")
    assert screen_text(screen, most=100).strip() == "editing"
    stream.feed("\x1b[?1049l$ ")
    assert screen_text(screen, most=100) == "$ vi\n$"


def test_what_scrolled_away_is_shown_as_far_as_it_fits() -> None:
    screen = TerminalScreen(20, 3)
    pyte.Stream(screen).feed("".join(f"line {n}\r\n" for n in range(50)))
    assert screen_text(screen, most=1_000).startswith("line 0\n")
    cut = screen_text(screen, most=60)
    assert cut.endswith("line 49\n")
    assert "line 44" in cut
    assert "line 30" not in cut
    assert len(cut) <= 60


def test_a_drawn_screen_looks_the_same() -> None:
    screen = TerminalScreen(30, 5)
    pyte.Stream(screen).feed("a\r\nb\r\n\x1b[1;31mred\x1b[0m \x1b[48;2;1;2;3mblue\x1b[0m 终\x1b[2;5H")
    copy = TerminalScreen(30, 5)
    pyte.ByteStream(copy).feed(render_screen(screen))
    assert [copy.buffer[y][x] for y in range(5) for x in range(12)] == [
        screen.buffer[y][x] for y in range(5) for x in range(12)
    ]
    assert (copy.cursor.x, copy.cursor.y) == (4, 1)


@pytest.mark.parametrize(
    "sequence", ["\x1b[>4;2m", "\x1b[?6n", "\x1b[99999L", "\x1b[999;999H", "\x1b[?1047h" * 3, "\x1b[?2004h"]
)
def test_odd_sequences_are_survived(sequence: str) -> None:
    screen = TerminalScreen(20, 4)
    pyte.Stream(screen).feed(f"a{sequence}b")
    assert "b" in screen_text(screen, most=200)
