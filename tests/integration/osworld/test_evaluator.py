"""OSWorld's own package judges a simulated guest."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import RunCommand
from tests.integration.osworld.evaluator_settings import means_ensured
from tests.integration.osworld.task_files import (
    NEEDS_CHROMIUM,
    PASSWORD,
    Web,
    brought,
    chrome,
    right,
    rule,
    run,
    task,
    there,
)
from vm_bridge.drivers.osworld.task_files import SUPPORTED_NAMES
from vm_bridge.errors import UnsupportedTask, VerifierFailed
from vm_bridge.hosts.osworld import evaluator_program
from vm_bridge.hosts.osworld.host import GuestSandbox

pytestmark = [
    pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc"),
    pytest.mark.timeout(900),  # the first one installs OSWorld's package
]
SIGN = {"type": "text", "text": "HARBOUR"}


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


@NEEDS_CHROMIUM
async def test_pages_are_opened_and_judged_over_chromes_debugging_port(guest: GuestSandbox, web: Web) -> None:
    machine = guest.bind(1)
    pages = [web.there(f"{name}.html") for name in ("one", "two", "three")]
    for page in pages:
        (web.folder / page.rpartition("/")[2]).write_text("<title>A page</title>")
    await machine.prepare(
        task(
            chrome(guest),
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
        [means_ensured().python, evaluator_program.__file__],
        input='{"do": "names"}',
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    has = json.loads(asked.stdout)
    assert {kind: frozenset(has[kind]) for kind in SUPPORTED_NAMES} == SUPPORTED_NAMES
    assert {kind: len(names) for kind, names in SUPPORTED_NAMES.items()} == {"metrics": 137, "getters": 54, "steps": 20}
