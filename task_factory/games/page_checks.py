"""Whether a game's page goes the way of its rules: the expert plays it by clicks and keys at every level."""

from collections.abc import AsyncIterator, Sequence
from random import Random

from task_factory.games.faults import Fault
from task_factory.games.harness import ExpertResult
from task_factory.games.page_play import PagePlay, WatchedSuite
from task_factory.games.static_checks import read_source
from vm_bridge.browser import Engine
from vm_bridge.suites.web.episodes import SETTLE_MS, random_action
from vm_bridge.suites.web.manifest import SMALL_SIZE
from vm_bridge.suites.web.task_folder import TaskFolder

REST_MS = 3_000.0
"""How long no input is sent, in the page's time: this reveals a clock, or a game that restarts."""
RANDOM_ACTS = 12


async def find_page_faults(
    engine: Engine, suite: WatchedSuite, folder: TaskFolder, experts: Sequence[ExpertResult]
) -> AsyncIterator[Fault]:
    """What is wrong with the page, until the first level with faults. Raises BrowserFailed, VerifierFailed."""
    for level in range(1, len(folder.manifest.levels) + 1):
        shortest = min((one for one in experts if one.level == level and one.won), key=lambda one: one.steps)
        faults = await _level_faults(engine, suite, folder, shortest)
        for fault in faults:
            yield fault
        if faults:
            return


async def _level_faults(engine: Engine, suite: WatchedSuite, folder: TaskFolder, expert: ExpertResult) -> list[Fault]:
    """Level 2 in Chinese and on the small screen where the game fits it."""
    second = expert.level == 2
    size = SMALL_SIZE if second and folder.manifest.small else None
    name = folder.manifest.name
    task = suite.make(name, seed=expert.seed, level=expert.level, language="zh" if second else "en", size=size)
    play = await PagePlay.begin(engine, suite, task, read_source(folder))
    try:
        if not play.faults:
            await _play_level(play, folder, expert, rest=expert.level == 1)
        return [*_named(play.faults), *await play.find_reached()]
    finally:
        await play.close()


async def _play_level(play: PagePlay, folder: TaskFolder, expert: ExpertResult, *, rest: bool) -> None:
    session, faults = play.episode.session, play.faults
    if rest:
        await session.advance(REST_MS)
        await _unchanged(play, "clock", "the state changes while nobody does anything")
    for move in expert.history:
        if faults or not await play.make(move):
            faults.append(Fault("page_disagrees", f"the page has no act for the move {move}"))
            return
        if play.history[-1:] != (move,):
            faults.append(Fault("page_disagrees", f"the act for {move} makes the moves {list(play.history[-1:])}"))
            return
    parameters = await session.evaluate("TASK")
    states = await play.harness.derive(parameters, expert.history)
    if [one.hash for one in states] != play.hashes:
        faults.append(Fault("page_disagrees", "the states of the page are not those of the rules"))
    said = await play.judge()
    if not (said.success and said.done):
        faults.append(Fault("page_disagrees", f"the verifier does not see the goal reached on the page: {said.reason}"))
    await _try_after_end(play, folder)
    if rest and not faults:
        await _try_reload(play)


async def _try_after_end(play: PagePlay, folder: TaskFolder) -> None:
    """Time and random acts after the end; each must leave the state as it is."""
    draw = Random(f"{folder.manifest.name}-after-end")  # noqa: S311 - acts that have to repeat
    await play.episode.session.advance(REST_MS)
    await _unchanged(play, "auto_restart", "the game begins again after its end")
    for _ in range(RANDOM_ACTS if not play.faults else 0):
        await play.episode.act(random_action(draw, play.episode.scene.size))
    await _unchanged(play, "auto_restart", "the game goes on after its end when something is pressed")


async def _try_reload(play: PagePlay) -> None:
    """A page that is loaded again begins as it began."""
    await play.episode.session.reload()
    await play.episode.session.settle(SETTLE_MS)
    state = await play.state()
    if await play.harness.state_hash(state.get("game")) != play.hashes[0] or state.get("history"):
        play.faults.append(Fault("storage", "the page that is loaded again does not begin with the start"))


async def _unchanged(play: PagePlay, code: str, text: str) -> None:
    before = len(play.faults)
    await play.look(most=0)
    if len(play.faults) > before:
        del play.faults[before:]
        play.faults.append(Fault(code, text))


def _named(faults: Sequence[Fault]) -> list[Fault]:
    """The recorder's faults in words of the page's check."""
    codes = {"record_end": "auto_restart", "record_action": "page_disagrees", "record_state": "page_disagrees"}
    return [Fault(codes.get(one.code, one.code), one.text) for one in faults]
