"""What is typed arrives exactly, in a text editor and in a terminal."""

import itertools

import pytest

from protocol.actions.types import OpenApp, Press, PressKeys, ReadFile, Release, RunCommand, TypeText
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

TEXTS = {
    "ascii": "".join(map(chr, range(0x21, 0x7F))) + " <a href='x'>&amp;</a> $(no) `no` \\ |~^",
    "lines": "first\n\tsecond\n\nfourth <>",
    "latin": "żółw, Ünïcode, ¡ñandú!, «ça», ß€",
    "chinese": "你好，世界。中文输入测试：一二三四五六七八九十",
    "many": "".join(chr(0x4E00 + 7 * number) for number in range(300)),
    "mixed": "a你b好c<d>żółw\nПривет, αβγ 日本語 한국어",
    "emoji": "ok 😀👍 done",
}
numbers = itertools.count()


async def do(machine: Machine, *actions: TypeText | PressKeys | OpenApp | Press | Release | RunCommand) -> None:
    for action in actions:
        done = await machine.perform(f"typing-{next(numbers):04}", action)
        assert done.error is None


@pytest.mark.parametrize("name", TEXTS)
async def test_typed_into_the_editor(desktop: LocalSandbox, machine: Machine, name: str) -> None:
    environment = desktop.environment(1)
    await environment.write("typed.txt", "")
    await environment.start(["mousepad", "typed.txt"])
    assert await environment.wait_for_window("typed.txt")
    await machine.observe(settle=True)
    await do(machine, TypeText(text=TEXTS[name]), PressKeys(keys=("ctrl", "s")))
    assert await environment.read("typed.txt") == TEXTS[name]


@pytest.mark.parametrize("name", ["ascii", "latin", "chinese", "mixed"])
async def test_typed_into_the_terminal(desktop: LocalSandbox, machine: Machine, name: str) -> None:
    environment = desktop.environment(1)
    await do(machine, OpenApp(name="terminal"), TypeText(text="cat > typed.txt\n"))
    await do(machine, TypeText(text=TEXTS[name] + "\n"), PressKeys(keys=("ctrl", "d")))
    assert await environment.read("typed.txt") == TEXTS[name] + "\n"


async def test_keys_a_keyboard_shifts_for(desktop: LocalSandbox, machine: Machine) -> None:
    await do(machine, OpenApp(name="terminal"), TypeText(text="cat > typed.txt\n"))
    await do(machine, PressKeys(keys=("<",)), PressKeys(keys=("shift", "a")), PressKeys(keys=("?",)))
    await do(machine, PressKeys(keys=("enter",)), PressKeys(keys=("ctrl", "d")))
    done = await machine.perform("typing-last", ReadFile(path="typed.txt"))
    assert done.after.text == "<A?\n"


async def test_typed_beside_held_keys_caps_lock_and_another_layout(desktop: LocalSandbox, machine: Machine) -> None:
    text = "a_B<y>Z @[ß]\n"
    await do(machine, OpenApp(name="terminal"), TypeText(text="cat > typed.txt\n"))
    for held in ("shift", "ctrl"):
        await do(machine, Press(key=held), TypeText(text=text))
        if held == "shift":
            await do(machine, PressKeys(keys=("a",)), Release(key=held), PressKeys(keys=("enter",)))
        await do(machine, Release(key=held))
    await do(machine, PressKeys(keys=("capslock",)), TypeText(text=text))
    await do(machine, PressKeys(keys=("b",)), PressKeys(keys=("enter",)), PressKeys(keys=("capslock",)))
    await do(machine, RunCommand(command="setxkbmap de"), TypeText(text=text + "z"), PressKeys(keys=("z",)))
    await do(machine, PressKeys(keys=("enter",)), PressKeys(keys=("ctrl", "d")))
    done = await machine.perform("typing-held", ReadFile(path="typed.txt"))
    assert done.after.text == f"{text}A\n{text}{text}B\n{text}zz\n"
