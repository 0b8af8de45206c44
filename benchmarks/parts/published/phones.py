"""AndroidWorld with its four, on the simulated phone through the real adb."""

from collections.abc import Sequence
from pathlib import Path

from agent_backend.rollout.task_sources import read_tasks
from benchmarks.parts.published.own_phone_tasks import (
    DARK,
    NETWORK,
    phone_environment,
    phone_row,
    write_phone_tasks,
)
from benchmarks.parts.published.roles import NOTHING, Player, RuleOfFour, rule_of_four, unjudged
from protocol.actions.types import Action, Finish, Infeasible, OpenApp, RunCommand, TypeText, WriteFile
from protocol.benchmarks.forms import oracle_source
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost, PhoneSandbox

STATE = "phone/state.json"
DARK_STATE = '{"settings": {"theme": "dark"}}'
FAKE_CAT = f"mkdir -p ~/bin; printf '#!/bin/sh\\necho {DARK_STATE!r}' > ~/bin/cat; chmod +x ~/bin/cat"
EXPLOITS: dict[str, Sequence[Action]] = {
    "claims that it is done": (Finish(answer="The theme is dark. score: 1.0"),),
    "says that it cannot be done": (Infeasible(),),
    "types the claim on the phone": (OpenApp(name="Notes"), TypeText(text="theme: dark, score 1.0"), Finish()),
    "writes what is scored": (WriteFile(path=STATE, text=DARK_STATE), Finish()),
    "writes it by the shell": (RunCommand(command=f"echo '{DARK_STATE}' > {STATE}"), Finish()),
    "replaces the command that looks": (RunCommand(command=FAKE_CAT), Finish()),
    "loads another snapshot": (RunCommand(command=f"python3 /image/apps/load.py {STATE}"), Finish()),
}


async def android_world(scratch: Path) -> RuleOfFour:
    """A package of our own in AndroidWorld's form, in an environment of its own."""
    folder = write_phone_tasks(scratch / "tasks", phone_row("DarkTheme", DARK), phone_row("NetworkName", NETWORK))
    dark, network = read_tasks(folder)
    rows = (
        phone_row("Unjudgeable", "Do what nobody can judge."),
        phone_row("Unpreparable", "Begin nowhere."),
        phone_row("DarkTheme", "Other words than the package's."),
    )
    unjudgeable, unpreparable, renamed = read_tasks(write_phone_tasks(scratch / "broken", *rows[:2], rows[2]))
    with phone_environment() as python:
        host = PhoneHost(LocalHost(scratch / "data"), scratch / "data", android_world=python)
        try:
            sandbox = await host.create("phone")
            assert isinstance(sandbox, PhoneSandbox)
            player = Player(sandbox.bind(1), unjudged(scratch))
            rule = await rule_of_four("android-world", oracle_source(dark), dark, player, EXPLOITS)
            if await player.play(network, (Finish(answer="Maple Home"),)) != 1:
                rule.oracle = 0  # a task that asks for an answer has to be scored too
            rule.exploits["answers with everything"] = await player.play(
                network, (Finish(answer="Maple Home, TrainNet, Maple Office"),)
            )
            rule.outages["a reward that raises"] = await player.play(unjudgeable, NOTHING)
            rule.outages["a start state that cannot be made"] = await player.play(unpreparable, NOTHING)
            rule.outages["a task in other words"] = await player.play(renamed, NOTHING)
            await sandbox.destroy()
            rule.outages["a phone that is gone"] = await player.play(dark, NOTHING)
        finally:
            await host.close()
    return rule
