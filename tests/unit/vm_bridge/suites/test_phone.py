"""What phone tasks begin with, and that their verifiers find fault with what was not asked for."""

import copy
import json
from collections.abc import Callable

import pytest

from vm_bridge.images.build import IMAGES
from vm_bridge.suites.phone.suite import MAKERS, judge, make_phone_task
from vm_bridge.suites.phone.world import World, make_world

SEEDS = range(20)


def test_the_phone_without_a_task_begins_with_the_world_of_seed_0() -> None:
    assert json.loads((IMAGES / "phone" / "apps" / "start.json").read_bytes()) == make_world(0)


def test_the_world_has_a_part_for_every_app() -> None:
    manifest = json.loads((IMAGES / "phone" / "apps" / "manifest.json").read_bytes())
    assert set(make_world(3)) == {"now", *(app["path"].strip("/") for app in manifest["apps"])}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_done_is_never_success(name: str) -> None:
    for seed in SEEDS:
        phone_task = make_phone_task(name, seed)
        verdict = judge(phone_task, copy.deepcopy(phone_task.world), "")
        assert (verdict.success, bool(verdict.reason)) == (False, True), seed


def _rename_somebody(world: World) -> None:
    world["contacts"]["people"][0]["name"] = "Nobody"


def _forget_messages(world: World) -> None:
    world["messages"]["threads"] = []


def _drop_alarms(world: World) -> None:
    world["clock"]["alarms"] = []


@pytest.mark.parametrize(
    ("name", "harm", "blamed"),
    [
        ("price", _rename_somebody, "contacts"),
        ("answer_number", _forget_messages, "messages"),
        ("price", _drop_alarms, "clock"),
    ],
)
def test_the_right_answer_does_not_excuse_harm(name: str, harm: Callable[[World], None], blamed: str) -> None:
    phone_task = make_phone_task(name, 0)
    answer = next(move.action.answer for move in phone_task.expert_steps[::-1] if hasattr(move.action, "answer"))
    world = copy.deepcopy(phone_task.world)
    assert judge(phone_task, world, answer).success is True
    harm(world)
    verdict = judge(phone_task, world, answer)
    assert (verdict.success, blamed in verdict.reason) == (False, True)


def test_reading_a_message_is_no_harm() -> None:
    phone_task = make_phone_task("price", 0)
    answer = next(move.action.answer for move in phone_task.expert_steps[::-1] if hasattr(move.action, "answer"))
    world = copy.deepcopy(phone_task.world)
    for thread in world["messages"]["threads"]:
        thread["unread"] = False
    assert judge(phone_task, world, answer).success is True


def test_a_message_sent_twice_is_no_success() -> None:
    phone_task = make_phone_task("reply", 0)
    world = copy.deepcopy(phone_task.world)
    text = phone_task.instruction.split("this text: ")[1]
    thread = next(
        one
        for one in world["messages"]["threads"]
        if one["messages"][-1]["from"] == "them" and _named(world, one, phone_task.instruction)
    )
    thread["messages"].append({"from": "me", "text": text, "at": world["now"]})
    assert judge(phone_task, world, "").success is True
    thread["messages"].append({"from": "me", "text": text, "at": world["now"]})
    assert judge(phone_task, world, "").success is False


def _named(world: World, thread: dict[str, str], instruction: str) -> bool:
    person = next(one for one in world["contacts"]["people"] if one["id"] == thread["person"])
    return f"{person['name']}'s" in instruction
