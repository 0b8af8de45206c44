"""An observation names the application that has the keyboard."""

import itertools

from protocol.actions.types import RunCommand
from vm_bridge.machine import Machine

numbers = itertools.count()
COMMAND = "LC_ALL=C.UTF-8 setsid xterm -T 'Große Notizen' >/dev/null 2>&1 &"


async def test_the_application_in_front_is_named(machine: Machine) -> None:
    opened = await machine.perform(f"command-{next(numbers)}", RunCommand(command=COMMAND))
    seen = opened.after
    while seen.application != "xterm":
        seen = await machine.observe(settle=True)
    assert "Große Notizen" in (await machine.screen_texts()).titles
    ended = await machine.perform(f"command-{next(numbers)}", RunCommand(command="pkill -x xterm"))
    assert ended.before.application == "xterm"
    seen = ended.after
    while seen.application == "xterm":
        seen = await machine.observe(settle=True)
