"""Writes what follows from the phone's apps and tasks: `python -m tests.integration.suites.phone_scripts`.

Run it after a change to them. The scripts are the tasks' moves, with the places where the apps have what is touched.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from pydantic import TypeAdapter

import annotation_app.demo
from agent_backend.scripted_policy.__main__ import PHONE
from agent_backend.scripted_policy.script import Line, Script, Stage
from protocol.actions.types import Action, OpenApp, TypeText
from protocol.dialects.dialect import ScreenSize
from protocol.trajectory.tasks import Task
from tests.integration.suites.phone import APPS, SCREEN, Phone, phone_opened
from vm_bridge.suites.phone.suite import MAKERS, PhoneSuite, make_phone_task
from vm_bridge.suites.phone.task import ExpertStep, Touch
from vm_bridge.suites.phone.world import make_world

SCRIPTS: TypeAdapter[list[Script]] = TypeAdapter(list[Script])
TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
DEMO = Path(annotation_app.demo.__file__).with_name("phone.json")


async def script_record(phone: Phone, name: str) -> Script:
    """The script of a task, found by doing it."""
    phone_task = make_phone_task(name, 0)
    await phone.load(phone_task.world)
    stages = []
    for move in phone_task.expert_steps:
        stages.append(await _stage(phone, move))
        await phone.perform(stages[-1].lines[0].action)
    size = ScreenSize(width=SCREEN["width"], height=SCREEN["height"])
    return Script(task=name, instruction=phone_task.instruction, screen=size, stages=tuple(stages))


async def _stage(phone: Phone, move: ExpertStep) -> Stage:
    action = await phone.action_of(move.action)
    lines = [Line(thought=move.thought, action=action)]
    if move.mistake is not None:
        lines = [
            lines[0].model_copy(update={"weight": 1 - move.mistake.weight}),
            Line(
                thought=move.mistake.thought,
                action=await phone.action_of(move.mistake.action),
                weight=move.mistake.weight,
                mistake=True,
            ),
        ]
    any_text = isinstance(action, TypeText) and move.mistake is None
    return Stage(lines=tuple(lines), also=await _ways_round(phone, move), typed=any_text)


async def _ways_round(phone: Phone, move: ExpertStep) -> tuple[Action, ...]:
    """At the home screen an app is opened by its name as well as by its picture."""
    if not phone.page.url.endswith("/launcher/"):
        return ()
    if isinstance(move.action, OpenApp):
        return (await phone.action_of(Touch(move.action.name)),)
    return (OpenApp(name=move.action.label),) if isinstance(move.action, Touch) else ()


async def _main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with phone_opened(Path(folder)) as phone:
            scripts = [await script_record(phone, name) for name in MAKERS]
    _write(PHONE, SCRIPTS.dump_json(scripts, indent=1))
    _write(DEMO, TASKS.dump_json(PhoneSuite().tasks, indent=1))
    _write(APPS / "start.json", json.dumps(make_world(0), ensure_ascii=False, indent=1).encode())


def _write(path: Path, text: bytes) -> None:
    draft = path.with_suffix(".new")
    draft.write_bytes(text + b"\n")
    draft.replace(path)


if __name__ == "__main__":
    asyncio.run(_main())
