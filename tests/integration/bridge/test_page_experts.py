"""Experts of MiniWoB++ without a bridge: a page of its own for each seed, in the page's own words, into one folder."""

from pathlib import Path

from agent_backend.folders import manifest_read, trajectories_read
from agent_backend.rollout.experts import main
from vm_bridge.suites.miniwob.pages import instructions

FIRST, SEEDS = 20_000, 2
TASKS = ("click-button-sequence", "enter-text")


def test_experts_solve_seeds_that_nobody_noted(tmp_path: Path) -> None:
    out = tmp_path / "attempts"
    told = [word for name in TASKS for word in ("--task", name)]
    numbers = ["--first-seed", str(FIRST), "--seeds", str(SEEDS), "--parallel", "1"]
    assert main([*told, *numbers, "--out", str(out)]) == 0
    found = [trajectory for _, trajectory in trajectories_read([out])]
    assert {(one.task.name, one.task.seed) for one in found} == {
        (name, FIRST + seed) for name in TASKS for seed in (0, 1)
    }
    assert all(one.verdict is not None and one.verdict.success for one in found)
    assert manifest_read(out).filters["lost"] == []
    typed = [one for one in found if one.task.name == "enter-text"]
    assert len(instructions()["enter-text"]) <= FIRST
    for one in typed:
        (text,) = (step.action.text for step in one.steps if step.action.kind == "type_text")
        assert f'"{text}"' in one.task.instruction
    assert all(step.after is not None and step.error is None for one in found for step in one.steps)
    assert main([*told, *numbers, "--out", str(out)]) == 1  # it is there already
