"""How lost and doubled steps are counted where a web process died."""

from benchmarks.parts import failover
from benchmarks.parts.pilots import Pilot
from vocabulary.actions import Click


def flown(*stored: tuple[str, int]) -> Pilot:
    """One who heard of two steps, with what is stored of them."""
    steps = [{"command_id": name, "action": {"x": 10, "y": y}} for name, y in stored]
    return Pilot(episode="e", session="s", number=0, at="h:1", done=["a", "b"], stored=steps, steered=[1], acted=[1])


def counted(pilot: Pilot, *acts: int) -> tuple[float, float]:
    figures = failover.counted([pilot], [[Click(x=10, y=y) for y in acts]])
    return figures["lost_steps"], figures["doubled_steps"]


def test_what_is_stored_and_done_once_is_neither_lost_nor_doubled() -> None:
    assert counted(flown(("a", 1), ("b", 2)), 1, 2) == (0, 0)


def test_a_step_that_was_heard_of_and_is_not_stored_is_lost() -> None:
    assert counted(flown(("a", 1)), 1, 2) == (1, 0)


def test_a_stored_step_that_no_machine_did_is_lost() -> None:
    assert counted(flown(("a", 1), ("b", 2)), 1) == (1, 0)


def test_an_act_done_twice_is_doubled() -> None:
    assert counted(flown(("a", 1), ("b", 2)), 1, 2, 2) == (0, 1)


def test_a_command_stored_twice_is_doubled() -> None:
    assert counted(flown(("a", 1), ("b", 2), ("b", 3)), 1, 2, 3) == (0, 1)
