"""The phone suite: loads a task's start state into the phone's apps and judges what they hold at the end."""

import json
from collections.abc import Callable, Mapping
from random import Random

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import MachineGone, UnknownTask
from vm_bridge.suites import SandboxEnvironment, reject_variants
from vm_bridge.suites.checksums import package_checksum
from vm_bridge.suites.phone import app_tasks, contact_tasks
from vm_bridge.suites.phone.task import PhoneTask
from vm_bridge.suites.phone.world import World, make_world

NAME = "phone"
START_FILE = "phone/task.json"
"""Where the start state is put for the loader, under the home folder."""
STATE_FILE = "phone/state.json"
"""Where the phone's server keeps its state, under the home folder."""
LOADER = "/image/apps/load.py"
PRACTICE = frozenset({"dark_mode"})

TaskMaker = Callable[[World, Random], PhoneTask]

MAKERS: Mapping[str, TaskMaker] = {
    maker.__name__: maker
    for maker in (
        app_tasks.dark_mode,
        contact_tasks.add_contact,
        contact_tasks.change_number,
        contact_tasks.delete_contact,
        contact_tasks.reply,
        contact_tasks.delete_conversation,
        contact_tasks.text_new_person,
        contact_tasks.number_to_note,
        contact_tasks.answer_number,
        app_tasks.quiet_flight,
        app_tasks.join_network,
        app_tasks.set_alarm,
        app_tasks.alarm_off,
        app_tasks.add_city,
        app_tasks.order,
        app_tasks.price,
        app_tasks.text_cart_total,
        app_tasks.split_bill,
    )
}
"""Every phone task by its name; the names are stable, records refer to them."""


def make_phone_task(name: str, seed: int) -> PhoneTask:
    """A task as its seed makes it: always the same. Raises UnknownTask."""
    maker = MAKERS.get(name)
    if maker is None:
        raise UnknownTask(f"there is no task {name} in the suite {NAME}")
    return maker(make_world(seed), Random(f"{name}-{seed}"))


def make_task(name: str, seed: int = 0) -> Task:
    """A task as it is offered to people and policies. Raises UnknownTask."""
    phone_task = make_phone_task(name, seed)
    return Task(
        id=f"{NAME}/{name}" if seed == 0 else f"{NAME}/{name}-{seed}",
        instruction=phone_task.instruction,
        platform="phone",
        suite=NAME,
        name=name,
        seed=seed,
        parameters={"practice": True} if name in PRACTICE else {},
        max_steps=2 * len(phone_task.expert_steps) + 10,
    )


class PhoneSuite:
    """Implements `Suite` over the makers of tasks."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task with the seed 0."""
        return tuple(make_task(name) for name in MAKERS)

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
        reject_variants(level, language, size)
        return make_task(name, seed)

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        """Hand the start state to the phone's server; what is open follows."""
        phone_task = make_phone_task(task.name or "", task.seed)
        await environment.write(START_FILE, json.dumps(phone_task.world, ensure_ascii=False))
        loaded = await environment.run(("python3", LOADER, START_FILE))
        if loaded.code != 0:
            raise MachineGone(f"the phone did not take the start of {task.name}: {loaded.output.strip()[-500:]}")

    async def evaluate(self, task: Task, environment: SandboxEnvironment, answer: str) -> Verdict:
        """Success when no check finds fault; the score is the share of checks that found none."""
        phone_task = make_phone_task(task.name or "", task.seed)
        text = await environment.read(STATE_FILE)
        if text is None:
            return Verdict(
                success=False, score=0.0, reason="the phone's state is gone", verifier=package_checksum(NAME)
            )
        return judge(phone_task, json.loads(text), answer)


def judge(phone_task: PhoneTask, now: World, answer: str) -> Verdict:
    """The verdict on what the phone holds; pure."""
    reasons = [reason for check in phone_task.checks if (reason := check(phone_task.world, now, answer))]
    return Verdict(
        success=not reasons,
        score=1 - len(reasons) / len(phone_task.checks),
        reason="; ".join(reasons),
        verifier=package_checksum(NAME),
    )
