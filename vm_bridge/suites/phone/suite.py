"""The phone suite: loads a task's start state into the phone's apps and judges what they hold at the end."""

import json
from collections.abc import Callable, Mapping
from random import Random

from vm_bridge.errors import MachineGone, UnknownTask
from vm_bridge.suites import Desk, plain_only
from vm_bridge.suites.phone import people, things
from vm_bridge.suites.phone.errand import Errand
from vm_bridge.suites.phone.world import World, world_make
from vocabulary.observations import Verdict
from vocabulary.tasks import Language, Task

NAME = "phone"
START = "phone/task.json"
"""Where the start state is put for the loader, under the home folder."""
STATE = "phone/state.json"
"""Where the phone's server keeps its state, under the home folder."""
LOADER = "/image/apps/load.py"
PRACTICE = frozenset({"dark_mode"})

Maker = Callable[[World, Random], Errand]

MAKERS: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (
        things.dark_mode,
        people.add_contact,
        people.change_number,
        people.delete_contact,
        people.reply,
        people.delete_conversation,
        people.text_new_person,
        people.number_to_note,
        people.answer_number,
        things.quiet_flight,
        things.join_network,
        things.set_alarm,
        things.alarm_off,
        things.add_city,
        things.order,
        things.price,
        things.text_cart_total,
        things.split_bill,
    )
}
"""Every phone task by its name; the names are stable, records refer to them."""


def errand_make(name: str, seed: int) -> Errand:
    """A task as its seed makes it: always the same. Raises UnknownTask."""
    maker = MAKERS.get(name)
    if maker is None:
        raise UnknownTask(f"there is no task {name} in the suite {NAME}")
    return maker(world_make(seed), Random(f"{name}-{seed}"))


def task_make(name: str, seed: int = 0) -> Task:
    """A task as it is offered to people and policies. Raises UnknownTask."""
    errand = errand_make(name, seed)
    return Task(
        id=f"{NAME}/{name}" if seed == 0 else f"{NAME}/{name}-{seed}",
        instruction=errand.instruction,
        platform="phone",
        suite=NAME,
        name=name,
        seed=seed,
        parameters={"practice": True} if name in PRACTICE else {},
        max_steps=2 * len(errand.moves) + 10,
    )


class PhoneSuite:
    """Implements `Suite` over the makers of tasks."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task with the seed 0."""
        return tuple(task_make(name) for name in MAKERS)

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """A task as its seed makes it. Raises UnknownTask, InvalidAction."""
        plain_only(level, language, size)
        return task_make(name, seed)

    async def prepare(self, task: Task, desk: Desk) -> None:
        """Hand the start state to the phone's server; what is open follows."""
        errand = errand_make(task.name or "", task.seed)
        await desk.write(START, json.dumps(errand.world, ensure_ascii=False))
        loaded = await desk.run(("python3", LOADER, START))
        if loaded.code != 0:
            raise MachineGone(f"the phone did not take the start of {task.name}: {loaded.output.strip()[-500:]}")

    async def evaluate(self, task: Task, desk: Desk, answer: str) -> Verdict:
        """Success when no check finds fault; the score is the share of checks that found none."""
        errand = errand_make(task.name or "", task.seed)
        text = await desk.read(STATE)
        if text is None:
            return Verdict(success=False, score=0.0, reason="the phone's state is gone")
        return judge(errand, json.loads(text), answer)


def judge(errand: Errand, now: World, answer: str) -> Verdict:
    """The verdict on what the phone holds; pure."""
    reasons = [reason for check in errand.checks if (reason := check(errand.world, now, answer))]
    return Verdict(success=not reasons, score=1 - len(reasons) / len(errand.checks), reason="; ".join(reasons))
