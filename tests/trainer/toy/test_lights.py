"""The toy world: what wins, what loses, what is only cut off, and that an attempt follows from what was said in it."""

import pytest

from protocol.trajectory.proposals import WeightSpan
from trainer.rl.attempts import attempt_interface, comparison_group
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.lights import COLOURS, HITS, MISSES, NAMES, PRESS, SIZE, TURNS, Lights, calls_tool, parse_reply


def test_three_hits_win_and_two_misses_lose() -> None:
    won = lost = Lights(seed=5)
    for _ in range(HITS):
        won = won.pointed(won.lit)
    for _ in range(MISSES):
        lost = lost.pointed((lost.lit + 1) % len(NAMES))
    assert (won.won, won.terminated, won.truncated) == (True, True, False)
    assert (lost.won, lost.terminated, lost.truncated) == (False, True, False)


def test_who_says_nothing_readable_is_cut_off() -> None:
    silent = Lights(seed=5)
    for _ in range(TURNS):
        assert (silent.terminated, silent.truncated) == (False, False)
        silent = silent.pointed(None)
    assert (silent.terminated, silent.truncated, silent.misses) == (False, True, 0)


def test_all_colours_come_and_stay_until_they_are_hit() -> None:
    assert {Lights(seed).lit for seed in range(40)} == set(range(len(COLOURS)))
    one = Lights(3)
    assert one.pointed((one.lit + 1) % 4).lit == one.lit
    assert one.png() != one.pointed((one.lit + 1) % 4).png(), "a miss is seen"


@pytest.mark.parametrize(
    ("reply", "thought", "corner"),
    [
        (" NW", "", 0),
        (" look look SE", "look look", 3),
        (" look", "look", None),
        ("", "", None),
        (" NW look", "NW look", None),
    ],
)
def test_a_reply_ends_with_a_corner(reply: str, thought: str, corner: int | None) -> None:
    assert parse_reply(reply) == (thought, corner)


def test_the_tool_presses_once() -> None:
    once = Lights(seed=5, presses=1).pressed()
    assert (once.hits, once.presses, once.turns) == (1, 0, 1)
    assert (once.pressed().hits, once.pressed().turns) == (1, 2), "then it does nothing"
    assert Lights(seed=5).pressed().hits == 0
    assert calls_tool(f" look {PRESS}")
    assert not calls_tool(f" {PRESS} NW")
    assert not calls_tool("")


def make_reply(text: str, version: str) -> PolicyReply:
    return PolicyReply(
        text=text, ids=(1, 2), logprobs=(-0.5, -0.25), versions=(WeightSpan(version=version, tokens=2),), finish="stop"
    )


def test_an_attempt_is_what_was_said_in_it() -> None:
    play = LightsEpisode(seed=7, draw=1)
    play.apply_reply((9, 9), make_reply(f" look {NAMES[play.lights.lit]}", "update-000000"), 1.0)
    play.apply_reply((9, 9), make_reply(" what", "update-000001"), 1.0)
    again = LightsEpisode(seed=7, draw=1)
    for ids, words in play.replies:
        again.apply_reply(ids, PolicyReply.model_validate(words.model_dump()), 1.0)
    assert again.lights == play.lights
    assert again.blobs == play.blobs
    trajectory = play.trajectory()
    assert [step.action.kind for step in trajectory.steps] == ["click", "wait"]
    assert [row[0].weight_versions for row in trajectory.proposals] == [
        (WeightSpan(version=version, tokens=2),) for version in ("update-000000", "update-000001")
    ]
    assert trajectory.proposals[1][0].error is not None
    assert trajectory.steps[0].before.width == SIZE


def test_the_same_task_is_done_both_ways() -> None:
    alone, with_tool = LightsEpisode(seed=7), LightsEpisode(seed=7, with_tool=True)
    assert alone.blobs == with_tool.blobs, "the same screen"
    told = [with_tool.instruction]
    for play in (alone, with_tool):
        play.apply_reply((9, 9), make_reply(f" {PRESS}", "update-000000"), 1.0)
        told.append(play.instruction)
        while not play.is_over:
            play.apply_reply((9, 9), make_reply(f" {NAMES[play.lights.lit]}", "update-000000"), 1.0)
    assert told == ["Point press", "Point", "Point pressed"], "what is there is said, and what is used up"
    without, with_it = alone.trajectory(), with_tool.trajectory()
    assert [step.action.kind for step in without.steps] == ["wait", "click", "click", "click"], "no tool was there"
    assert [step.action.kind for step in with_it.steps] == ["call_tool", "click", "click"]
    assert without.proposals[0][0].error is not None
    assert with_it.proposals[0][0].error is None
    assert (without.outcome, with_it.outcome) == ("success", "success")
    assert (attempt_interface(without), attempt_interface(with_it)) == ("gui", "functions")
    assert without.task == with_it.task
    assert len({without.id, with_it.id}) == len({comparison_group(without), comparison_group(with_it)}) == 2
