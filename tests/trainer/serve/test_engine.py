"""The engine serves many at once, lets go of who leaves, and changes weights under replies on their way."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.parts.model_servers.checkpoint import write
from tests.trainer.serve.test_decoding import prompt_of
from trainer.errors import CheckpointUnusable
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.serve.engine import Engine
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.replies import Delta
from trainer.serve.schemas import InvalidRequest, Sampling

BOUND = 60.0


@pytest.fixture
async def engine(checkpoint: Checkpoint) -> AsyncIterator[Engine]:
    own = load_checkpoint(checkpoint.path)
    made = Engine(own, context=2048, rows=8, cache_tokens=4096)
    yield made
    made.close()


class Asking:
    """One request, heard to its end."""

    def __init__(self, engine: Engine, reader: PromptEncoder, prompt: Prompt, **given: object) -> None:
        sampling = Sampling.model_validate({"seed": 1, "max_tokens": 12, "ignore_eos": True, **given})
        self.deltas: list[Delta] = []
        self.begun = asyncio.Event()
        self._stream = engine.generate(prompt, sampling, reader.text)
        self.done = asyncio.create_task(self._hear())

    async def _hear(self) -> dict[int, list[int]]:
        async for delta in self._stream:
            self.deltas.append(delta)
            self.begun.set()
        ids: dict[int, list[int]] = {}
        for delta in self.deltas:
            ids.setdefault(delta.index, []).extend(delta.ids)
        return ids

    async def whole(self) -> dict[int, list[int]]:
        return await asyncio.wait_for(self.done, BOUND)


async def test_company_changes_nothing(engine: Engine, reader: PromptEncoder) -> None:
    prompts = [prompt_of(reader, "one"), prompt_of(reader, "a second question", 10), prompt_of(reader, "x", 20, 30)]
    single = [await Asking(engine, reader, prompt, n=2, seed=5).whole() for prompt in prompts]
    together = [Asking(engine, reader, prompt, n=2, seed=5) for prompt in prompts * 2]
    heard = [await asking.whole() for asking in together]
    assert heard == single * 2
    assert all(len(ids) == 12 for reply in heard for ids in reply.values())


async def test_who_leaves_makes_room(engine: Engine, reader: PromptEncoder) -> None:
    prompt = prompt_of(reader, "one")
    endless = Asking(engine, reader, prompt, n=8, max_tokens=2000)
    await asyncio.wait_for(endless.begun.wait(), BOUND)
    waiting = Asking(engine, reader, prompt)
    endless.done.cancel()
    await waiting.whole()
    made = engine.figures.generated_tokens
    await Asking(engine, reader, prompt, max_tokens=3).whole()
    assert engine.figures.generated_tokens == made + 3, "nothing is written for who has left"


async def test_more_replies_than_there_is_room_for_are_refused(engine: Engine, reader: PromptEncoder) -> None:
    with pytest.raises(InvalidRequest, match="at most 8"):
        await Asking(engine, reader, prompt_of(reader, "one"), n=9).whole()


async def test_a_pause_freezes_and_a_resume_goes_on(engine: Engine, reader: PromptEncoder) -> None:
    prompt = prompt_of(reader, "one", 10)
    expected = await Asking(engine, reader, prompt, max_tokens=200).whole()
    asking = Asking(engine, reader, prompt, max_tokens=200)
    await asyncio.wait_for(asking.begun.wait(), BOUND)
    await engine.pause("keep")
    assert engine.paused
    frozen = engine.figures.generated_tokens
    late = Asking(engine, reader, prompt)
    await engine.forget()
    assert engine.figures.generated_tokens == frozen
    await engine.resume()
    assert await asking.whole() == expected
    await late.whole()


async def test_a_pause_may_wait_or_end_what_runs(engine: Engine, reader: PromptEncoder) -> None:
    prompt = prompt_of(reader, "one")
    asking = Asking(engine, reader, prompt, max_tokens=60)
    await asyncio.wait_for(asking.begun.wait(), BOUND)
    await asyncio.wait_for(engine.pause("wait"), BOUND)
    assert len((await asking.whole())[0]) == 60
    await engine.resume()
    ended = Asking(engine, reader, prompt, max_tokens=2000)
    await asyncio.wait_for(ended.begun.wait(), BOUND)
    await engine.pause("abort")
    await ended.whole()
    assert ended.deltas[-1].finish == "abort"


async def test_other_weights_take_over_under_a_reply(engine: Engine, reader: PromptEncoder, tmp_path: Path) -> None:
    write(tmp_path / "other", seed=1)
    prompt = prompt_of(reader, "one", 10)
    before = await Asking(engine, reader, prompt, n=2, temperature=0, max_tokens=100).whole()
    asking = Asking(engine, reader, prompt, n=2, temperature=0, max_tokens=100)
    await asyncio.wait_for(asking.begun.wait(), BOUND)
    await engine.pause("keep")
    await engine.reload(tmp_path / "other")
    engine.version = "two"
    await engine.resume()
    heard = await asking.whole()
    (first, second) = asking.deltas[-1].versions
    assert (first.version, second.version) == ("default", "two")
    before_it, after_it = first.tokens or 0, second.tokens or 0
    assert before_it + after_it == 100
    assert heard[0][:before_it] == before[0][:before_it]
    assert heard[0] != before[0]
    fresh = Engine(load_checkpoint(tmp_path / "other"), context=2048, rows=8, cache_tokens=0)
    whole = Prompt(ids=(*prompt.ids, *heard[0][:before_it]), pictures=prompt.pictures)
    try:
        rest = await Asking(fresh, reader, whole, temperature=0, max_tokens=after_it).whole()
    finally:
        fresh.close()
    assert rest[0] == heard[0][before_it:], "what follows is what the new weights say after it"


async def test_weights_that_do_not_fit_change_nothing(engine: Engine, reader: PromptEncoder, tmp_path: Path) -> None:
    prompt = prompt_of(reader, "one")
    before = await Asking(engine, reader, prompt).whole()
    with pytest.raises(CheckpointUnusable):
        await engine.reload(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointUnusable):
        await engine.reload(tmp_path / "empty")
    assert await Asking(engine, reader, prompt).whole() == before
