"""What games say of themselves in words: what their pictures show, no more, and changing nothing."""

import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_backend.benchmark.manifest import TASK_SETS
from agent_backend.rollout.harness import described
from tests.integration.browser.engine.conftest import started
from vm_bridge.browser import Clock, Engine
from vm_bridge.suites.web import GAMES
from vm_bridge.suites.web.episodes import TaskEpisode

NAMES = TASK_SETS["lmgame"][1]
HIDDEN = {
    "sokoban": "pushes += 7; start = { boxes: [...targets], player }",
    "tetris": "bag = [0, 0, 0]; lines += 0; draw = pilothouse.random('other')",
    "2048": "draw = pilothouse.random('other'); won = false",
    "match3": "draw = pilothouse.random('other'); held = { column: 0, row: 0 }",
    "platformer": "runner.up += 3; held.left = true; blocks.push(ground.length - 9); ground[ground.length - 7] = false",
    "courtroom": "cases[at].lie = (cases[at].lie + 1) % cases[at].said.length",
}
"""A change of what a game knows and its picture does not show."""
VISIBLE = {
    "sokoban": "boxes = boxes.slice(1)",
    "tetris": "heap[ROWS - 1][0] = heap[ROWS - 1][0] ? 0 : 3",
    "2048": "cells[cells.indexOf(0)] = 8",
    "match3": "gems[0] = (gems[0] + 1) % kinds",
    "platformer": "runner.y += 1",
    "courtroom": "chosen = 0",
}
"""A change that its picture shows."""
CHINESE = re.compile("[\u4e00-\u9fff]")
REPAINT = "board.again(); undefined"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


async def look(episode: TaskEpisode) -> tuple[str, str]:
    """The hash of the picture, and the words."""
    words = await GAMES.describe(described(episode.task), episode.session)
    assert words is not None
    return hashlib.sha256(await episode.session.picture("png", 100)).hexdigest(), words


async def change(episode: TaskEpisode, script: str) -> tuple[str, str]:
    """The look after a change of the page's own variables, drawn again."""
    await episode.session.evaluate(f"{script}; {REPAINT}")
    await episode.session.settle(500)
    return await look(episode)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
async def test_the_same_picture_has_the_same_words_while_it_is_played(engine: Engine, name: str) -> None:
    episode = await TaskEpisode.begin(engine, GAMES, GAMES.make(name, seed=3, level=2))
    try:
        seen = dict([await look(episode)])
        for _ in range(6):
            await episode.act(await episode.suggested_action())
            picture, words = await look(episode)
            assert seen.setdefault(picture, words) == words
        assert len(set(seen.values())) > 1, "the words change with the game"
    finally:
        await episode.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
async def test_words_hide_what_the_picture_hides_and_tell_what_it_shows(engine: Engine, name: str) -> None:
    episode = await TaskEpisode.begin(engine, GAMES, GAMES.make(name, seed=3, level=2))
    try:
        picture, words = await look(episode)
        assert await change(episode, HIDDEN[name]) == (picture, words)
        other, changed = await change(episode, VISIBLE[name])
        assert other != picture
        assert changed != words
    finally:
        await episode.close()


@pytest.mark.timeout(300)
async def test_both_languages_have_words_and_tasks_that_do_not_ask_get_none(engine: Engine) -> None:
    for name in NAMES:
        found = []
        for language in ("en", "zh"):
            episode = await TaskEpisode.begin(engine, GAMES, GAMES.make(name, seed=1, language=language))
            try:
                assert await GAMES.describe(episode.task, episode.session) is None
                found.append((await look(episode))[1])
            finally:
                await episode.close()
        english, chinese = found
        assert english != chinese, name
        assert CHINESE.search(english) is None, name
