"""Episodes at MiniWoB++'s pages without a bridge: in the page's own words, several at one page, each from its start."""

from pathlib import Path

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.experts import EXPERT_REF
from agent_backend.rollout.page_attempts import run_page_attempts
from tests.integration.suites.browser_tasks import NANO_SEEDS, nano_tasks
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.miniwob.pages import read_instructions
from vm_bridge.suites.miniwob.suite import read_instruction
from vm_bridge.suites.registry import WEB_SUITES

SEED = 50_000
TIMES = 2
QUESTION_SEED = 21


async def test_episodes_begin_with_a_fresh_page_that_says_what_it_asks_for(tmp_path: Path) -> None:
    assert len(read_instructions()["enter-text"]) <= SEED, "nobody noted what this page asks for"
    task = WEB_SUITES["miniwob"].make("enter-text", seed=SEED, size=(160, 210)).model_copy(update={"max_steps": 5})
    made, lost = list[AttemptResult](), list[str]()
    host = BrowserHost(tmp_path, WEB_SUITES)
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        await run_page_attempts(
            [sandbox],
            [task] * TIMES,
            lambda machine: ExpertPolicy(EXPERT_REF, machine.suggest_expert_action),
            made.append,
            lambda task, why: lost.append(why),
        )
    finally:
        await host.close()
    assert not lost
    found = [one.trajectory for one in made if one.trajectory is not None]
    assert len({one.id for one in found}) == TIMES
    assert len({one.task.instruction for one in found}) == 1, "it is the same page"
    for one in found:
        (text,) = (step.action.text for step in one.steps if step.action.kind == "type_text")
        assert f'"{text}"' in one.task.instruction
        assert one.outcome == "success"
        assert (one.terminated, one.truncated) == (True, False)
        assert one.task.max_steps == task.max_steps
    shown = [(one, step.before.screenshot) for one in made if one.trajectory for step in one.trajectory.steps]
    assert all(ref is not None and one.blob(ref) for one, ref in shown)


async def test_pages_of_sites_are_played_the_same_way(tmp_path: Path) -> None:
    login = WEB_SUITES["sites"].make("login", seed=SEED, size=(320, 240))
    question = WEB_SUITES["questions"].make("wiki", seed=QUESTION_SEED, level=2)
    made, host = list[AttemptResult](), BrowserHost(tmp_path, WEB_SUITES)
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        await run_page_attempts(
            [sandbox],
            [login, question],
            lambda machine: ExpertPolicy(EXPERT_REF, machine.suggest_expert_action),
            made.append,
            lambda *_: None,
        )
    finally:
        await host.close()
    found = [one.trajectory for one in made if one.trajectory is not None]
    assert [one.task.instruction for one in found] == [login.instruction, question.instruction]
    assert [one.outcome for one in found] == ["success", "success"]


async def test_small_screens_of_the_demo_ask_what_their_pages_ask(tmp_path: Path) -> None:
    """Of the last seed: a page whose instruction is noted once for all seeds may ask for something else later."""
    asked = [one for one in nano_tasks() if one.suite == "miniwob" and one.seed == NANO_SEEDS[-1]]
    assert asked
    host = BrowserHost(tmp_path, WEB_SUITES)
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        for number, task in enumerate(asked, 1):
            await sandbox.bind(number).prepare(task)
            assert await sandbox.browser.read(number, read_instruction) == task.instruction
    finally:
        await host.close()
