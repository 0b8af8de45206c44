"""Experts of MiniWoB++ without a bridge: a page of its own for each seed, in the page's own words, into one folder."""

from pathlib import Path

from agent_backend.rollout.experts import main
from agent_backend.trajectory_folders import read_manifest, read_trajectories
from protocol.actions.types import Action, Click
from protocol.trajectory.observations import PageLayout, TextElement
from protocol.trajectory.steps import Step
from vm_bridge.suites.miniwob.pages import read_instructions

FIRST, SEEDS = 20_000, 2
SMALL = "320x240"
TASKS = ("click-button-sequence", "enter-text")


def test_experts_solve_seeds_that_nobody_noted(tmp_path: Path) -> None:
    out = tmp_path / "attempts"
    told = [word for name in TASKS for word in ("--task", name)]
    numbers = ["--first-seed", str(FIRST), "--seeds", str(SEEDS), "--parallel", "1"]
    assert main([*told, *numbers, "--out", str(out)]) == 0
    found = [trajectory for _, trajectory in read_trajectories([out])]
    assert {(one.task.name, one.task.seed) for one in found} == {
        (name, FIRST + seed) for name in TASKS for seed in (0, 1)
    }
    assert all(one.verdict is not None and one.verdict.success for one in found)
    assert read_manifest(out).filters["lost"] == []
    typed = [one for one in found if one.task.name == "enter-text"]
    assert len(read_instructions()["enter-text"]) <= FIRST
    for one in typed:
        (text,) = (step.action.text for step in one.steps if step.action.kind == "type_text")
        assert f'"{text}"' in one.task.instruction
    assert all(step.after is not None and step.error is None for one in found for step in one.steps)
    assert main([*told, *numbers, "--out", str(out)]) == 1  # it is there already


def test_what_stands_where_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    told = ["--suite", "drills", "--task", "press", "--task", "checklist", "--size", SMALL, "--level", "2", "--parts"]
    assert main([*told, "--seeds", "1", "--out", str(tmp_path / "attempts")]) == 0
    found = {one.task.name: one for _, one in read_trajectories([tmp_path / "attempts"])}
    assert found.keys() == {"press", "checklist"}
    for one in found.values():
        assert one.task.parameters["level"] == 2
        assert one.verdict is not None
        assert one.verdict.success
        for step in one.steps:
            parts = PageLayout.model_validate_json(step.before.accessibility or "").parts
            assert isinstance(step.action, Click)
            hit = [part for part in parts if _within(part.box, step.action)]
            assert hit, "what the expert clicks can be read"
            assert all(len(part.bounds) == len(part.text) + 1 for part in parts)
            assert all(list(part.bounds) == sorted(part.bounds) for part in parts)
    (pressed,) = found["press"].steps
    (part,) = (one for one in parts_of(pressed) if _within(one.box, pressed.action))
    assert (part.kind, f"“{part.text}”" in found["press"].task.instruction) == ("button", True)
    boxes = [one for one in parts_of(found["checklist"].steps[0]) if one.kind == "checkbox"]
    assert len(boxes) == 6


def parts_of(step: Step) -> tuple[TextElement, ...]:
    """What stood on the screen that was decided on."""
    return PageLayout.model_validate_json(step.before.accessibility or "").parts


def _within(box: tuple[float, float, float, float], action: Action) -> bool:
    left, top, right, bottom = box
    return isinstance(action, Click) and left <= action.x <= right and top <= action.y <= bottom
