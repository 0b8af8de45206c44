"""The state law: what each durable event changes, and that nothing else does."""

import pytest

from protocol.messages.events import EpisodeChanged, EpisodeState, ProposalsThinking
from protocol.messages.state import apply_event, apply_thinking_event
from tests.fixtures import episodes
from tests.unit.protocol.examples import episode, observation

CHANGED = {
    "step-started": {"pending", "thinking"},
    "step-started-while-thinking": {"pending", "thinking", "thinking_policy"},
    "step-added": {"steps", "pending", "proposals", "observation"},
    "step-added-second": {"steps", "observation"},
    "step-added-of-several": {"steps", "pending", "proposals", "observation"},
    "step-added-outcome-unknown": {"steps", "pending", "proposals"},
    "step-undone": {"steps", "proposals", "thinking", "observation"},
    "thought-written": {"steps"},
    "proposals-ready": {"proposals", "policy", "thinking", "thinking_error"},
    "proposals-withdrawn": {"proposals", "thinking"},
    "proposals-withdrawn-for-another-screen": {"proposals", "thinking", "observation"},
    "proposal-marked": {"proposals"},
    "proposal-unmarked": {"proposals"},
    "proposal-marked-unknown": set(),
    "episode-warmed": {"status", "observation", "capabilities", "tools", "can_undo", "lease_expires_at"},
    "episode-autopilot-off": {"autopilot"},
    "episode-error-cleared": {"error", "takeover", "help_requested"},
    "episode-finished": {"status", "outcome", "answer", "verdict", "finished_at"},
}


@pytest.mark.parametrize("name", episodes.EVENTS)
def test_an_event_changes_its_fields_and_the_version_only(name: str) -> None:
    case = episodes.cases()[name]
    fields = EpisodeState.model_fields
    assert {f for f in fields if getattr(case.before, f) != getattr(case.after, f)} == {"version", *CHANGED[name]}
    assert case.after.version == case.event.version


@pytest.mark.parametrize("name", episodes.EVENTS)
def test_the_cases_of_the_front_end_are_the_present_law(name: str) -> None:
    stored = episodes.Case.model_validate_json((episodes.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert stored == episodes.cases()[name]
    assert apply_event(stored.before, stored.event) == stored.after


def test_no_case_lies_around_that_nobody_generates() -> None:
    assert {path.stem for path in episodes.FOLDER.glob("*.json")} == set(episodes.EVENTS)


def test_a_step_moves_the_desk_to_the_frame_after_it() -> None:
    after = episodes.cases()["step-added"].after
    assert after.observation == observation("screen-1", seconds=1)
    assert after.proposals == ()
    assert after.pending is None


def test_an_unknown_outcome_keeps_the_last_frame_seen() -> None:
    case = episodes.cases()["step-added-outcome-unknown"]
    assert case.after.observation == case.before.observation


@pytest.mark.parametrize("version", [3, 4, 6])
def test_any_version_but_the_next_is_a_gap(version: int) -> None:
    with pytest.raises(ValueError, match="gap"):
        apply_event(episode(version=4), EpisodeChanged(version=version, autopilot=True))


def test_news_of_an_inference_leaves_the_version() -> None:
    state = apply_thinking_event(episode(), ProposalsThinking(thinking="failed", message="The model did not answer."))
    assert (state.thinking, state.thinking_error, state.version) == ("failed", "The model did not answer.", 4)
