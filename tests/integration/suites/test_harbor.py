"""Harbor's folders in a real machine without a screen: built, solved and judged inside it."""

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from benchmarks.parts.tasks.bad_folders import GOOD
from benchmarks.parts.tasks.bad_verifiers import BAD_VERIFIERS
from protocol.actions.types import RunCommand, TypeTerminal
from protocol.harbor.task_folders import parse_folder
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnsupportedTask, VerifierFailed
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Machine
from vm_bridge.suites.registry import SUITES

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("harbor"),
]
KINDS = ("hangs behind its back", "floods", "forks", "writes a pipe")
"""Of the verifiers that misbehave; the benchmark has them all."""


def folder(test: str = "", more: Mapping[str, bytes] | None = None) -> Task:
    """A task whose tests are this script."""
    files = {**GOOD, "task.toml": b"[verifier]\ntimeout_sec = 1\n", **(more or {})}
    return parse_folder({**files, "tests/test.sh": test.encode()} if test else files)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Machine]:
    host = LocalHost(tmp_path_factory.mktemp("data"), SUITES)
    yield (await host.create("terminal")).bind(1)
    await host.close()


async def test_a_folder_is_built_solved_and_judged_inside(machine: Machine) -> None:
    dockerfile = b"FROM pilothouse-terminal\nWORKDIR /app\nENV WORD=set\nCOPY in ./\nRUN echo $WORD > word.txt\n"
    test = b"cat word.txt in.txt more.bin | md5sum > /logs/artifacts/sum; " + GOOD["tests/test.sh"]
    more = {"environment/Dockerfile": dockerfile, "environment/in/in.txt": b"1\n", "environment/in/more.bin": b"\0\xff"}
    task = parse_folder({**GOOD, **more, "tests/test.sh": test})
    await machine.prepare(task)
    before = await machine.evaluate()
    assert (before.success, before.score) == (False, 0), "nothing was done yet"
    solution = await machine.suggest_expert_action()
    assert solution is not None
    await machine.perform("solution", solution.action)
    end = await machine.suggest_expert_action()
    assert end is not None
    assert end.action.kind == "finish"
    after = await machine.evaluate()
    assert (after.success, after.score, after.verifier) == (True, 1, before.verifier)


async def test_the_first_shell_reads_what_the_folder_wrote_for_it(machine: Machine) -> None:
    dockerfile = b"FROM pilothouse-terminal\nRUN echo 'echo read at the start' >> ~/.bashrc\n"
    seen = await machine.prepare(folder(more={"environment/Dockerfile": dockerfile}))
    assert "read at the start" in (seen.text or "")


async def test_tests_that_misbehave_give_no_reward_and_leave_the_machine_usable(machine: Machine) -> None:
    for name in KINDS:
        script, reason = BAD_VERIFIERS[name]
        await machine.prepare(folder(script))
        with pytest.raises(VerifierFailed, match=reason):
            await machine.evaluate()
        assert (await machine.observe()).text is not None, name


async def test_a_reward_planted_before_the_tests_counts_for_nothing(machine: Machine) -> None:
    planted = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.json; echo exit > /tests/helper.sh"
    dockerfile = f"FROM pilothouse-terminal\nRUN {planted}\n".encode()
    await machine.prepare(folder("ls -A /tests /logs/verifier", {"environment/Dockerfile": dockerfile}))
    with pytest.raises(VerifierFailed, match="wrote no reward") as failed:
        await machine.evaluate()
    assert "helper.sh" not in str(failed.value)


@pytest.mark.parametrize(("kept", "rewarded"), [(b"", False), (b"[metadata]\nkeep_processes = true\n", True)])
async def test_what_an_attempt_left_running_is_ended_before_the_tests(
    machine: Machine, kept: bytes, rewarded: bool
) -> None:
    await machine.prepare(folder("sleep 0.2; echo 0 > /logs/verifier/reward.txt; sleep 0.2", {"task.toml": kept}))
    change = "echo 1 > ~/reward-$$ && mv ~/reward-$$ /logs/verifier/reward.txt"
    cheat = f"while :; do [ -e /logs/verifier/reward.txt ] && {change}; sleep 0.01; done"
    await machine.perform(f"background-{rewarded}", RunCommand(command=f"nohup sh -c '{cheat}' >/dev/null 2>&1 &"))
    await machine.perform(f"shell-{rewarded}", TypeTerminal(text=f"{cheat}\n"), settle=False)
    assert (await machine.evaluate()).success is rewarded
    assert (await machine.observe()).text is not None, "a new shell stands ready"


async def test_tests_that_cannot_be_put_in_place_are_the_verifiers_failure(machine: Machine) -> None:
    await machine.prepare(folder())
    await machine.perform("close", RunCommand(command="chmod 000 /logs"))
    with pytest.raises(VerifierFailed, match="put in place"):
        await machine.evaluate()


async def test_part_of_a_reward_is_a_score_and_no_success(machine: Machine) -> None:
    await machine.prepare(folder('echo \'{"reward": 0.25, "style": 1}\' > /logs/verifier/reward.json'))
    verdict = await machine.evaluate()
    assert (verdict.success, verdict.score) == (False, 0.25)


async def test_an_environment_that_cannot_be_built_is_refused(machine: Machine) -> None:
    failing = {"environment/Dockerfile": b"FROM pilothouse-terminal\nRUN echo no such package && exit 7\n"}
    with pytest.raises(UnsupportedTask, match="exit status 7: no such package"):
        await machine.prepare(folder(more=failing))
    with pytest.raises(UnsupportedTask, match="harbor_invalid"):
        await machine.prepare(Task(id="a", instruction="b", platform="terminal", parameters={"harbor": {}}))
