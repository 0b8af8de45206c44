"""Stands for QEMU: `python stand_in.py PLAN QEMU'S WORDS…`. It answers on the control socket and writes on the serial
line what the plan says, and ends as a machine that shuts down, or runs until it is ended.

The plan is a folder: `PHASE.json` holds `{"serial": […], "ends": bool}`, where the phase is `install` with two media
and `verify` with none. `started` gets a line a start.
"""

import json
import re
import socket
import sys
from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n"


def main(plan: Path, words: list[str]) -> None:
    phase = "install" if any("medium1" in word for word in words) else "verify"
    with (plan / "started").open("a") as started:
        started.write(f"{phase}\n")
    what = json.loads((plan / f"{phase}.json").read_text())
    line = " ".join(words)
    control = re.search(r"unix:(\S+),server=on", line)
    serial = re.search(r"file:(\S+serial\.log)", line)
    assert control
    assert serial
    Path(serial[1]).write_text("".join(f"{each}\r\n" for each in what["serial"]))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(control[1])
    listener.listen()
    link, _ = listener.accept()
    with link.makefile("rwb") as calls:
        calls.write(b'{"QMP": {}}\n')
        calls.flush()
        for call in calls:
            asked = json.loads(call)
            if asked["execute"] == "screendump":
                Path(asked["arguments"]["filename"]).write_bytes(PNG)
            calls.write(json.dumps({"return": {}, "id": asked["id"]}).encode() + b"\n")
            calls.flush()
            if asked["execute"] == "system_powerdown" or what["ends"]:
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
