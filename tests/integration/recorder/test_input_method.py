"""Chinese typed into a real GTK program with a real input method: IBus with libpinyin."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import DEVNULL

import pytest
from pydantic import TypeAdapter

from benchmarks.parts.recorder.accessibility import gtk_program, has_accessibility, private_bus, with_bus
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, recorder
from protocol.formats.recorded_acts import RecordedEvent, find_acts
from recorder.pilothouse_recorder.packing import needed_events
from recorder.pilothouse_recorder.sessions import open_session
from tests.waiting import wait_until

pytestmark = pytest.mark.slow
ENGINE = "libpinyin"
IM_EVENTS = ("key.down", "key.up", "text.inserted")


@pytest.fixture
def form(
    environment: dict[str, str], desktop: Desktop, tmp_path: Path
) -> Iterator[tuple[RecorderProcess, tuple[int, int]]]:
    """A recorder beside a form whose fields take pinyin; and where the form is."""
    if not has_accessibility() or shutil.which("ibus-daemon") is None:
        pytest.skip("AT-SPI, GTK, or IBus with libpinyin and its GTK module is not installed")
    with ExitStack() as stack:
        own = with_bus(environment, stack.enter_context(private_bus(tmp_path)), tmp_path)
        homes = {name: str(tmp_path / name.lower()) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        own |= {**homes, "GTK_IM_MODULE": "ibus", "GSETTINGS_BACKEND": "memory", "LANG": "C.UTF-8"}
        command = ["ibus-daemon", "--panel=disable"]
        daemon = stack.enter_context(subprocess.Popen(command, env=own, stdout=DEVNULL, stderr=DEVNULL))
        stack.callback(daemon.terminate)
        place = stack.enter_context(gtk_program(desktop, own))

        def has_engine() -> bool:
            subprocess.run(["ibus", "engine", ENGINE], env=own, stdout=DEVNULL, stderr=DEVNULL, check=False)
            told = subprocess.run(["ibus", "engine"], env=own, capture_output=True, text=True, check=False)
            return told.stdout.strip() == ENGINE

        wait_until(has_engine)
        yield stack.enter_context(recorder(tmp_path / "recordings", own)), place


def test_chinese_is_recorded_as_what_was_written(
    form: tuple[RecorderProcess, tuple[int, int]], desktop: Desktop
) -> None:
    running, (left, top) = form
    desktop.click(left + 150, top + 150)

    def texts() -> list[str]:
        running.wait_stored()
        events = open_session(running.folder).events
        return [one["text"] for one in events if one["kind"] == "text.inserted" and not one["text"].isascii()]

    for phrase, written in (("nihao ", ["你好"]), ("zhongguo ", ["你好", "中国"])):
        desktop.type(phrase)
        wait_until(lambda written=written: texts() == written)  # type: ignore[misc]
    running.stop()
    kept = [one for one in needed_events(open_session(running.folder).events) if one["kind"] in IM_EVENTS]
    acts = find_acts(TypeAdapter(list[RecordedEvent]).validate_python(kept))
    assert [act.action.text for act in acts] == ["你好中国"]
