"""More commands at once than may wait: each is answered, none overtakes another, none is done twice."""

from annotation_app.live.consumers import COMMAND_BURST, RETRYABLE_CODES
from tests.integration.web.conftest import EpisodeSocket, Stack

MORE = 300
"""So many commands beyond those that one socket may send at once."""


async def answers(desk: EpisodeSocket, names: list[str]) -> dict[str, str]:
    """What each command was answered, in the order of the answers: a code, or nothing where it was taken."""
    told: dict[str, str] = {}
    while len(told) < len(names):
        event = await desk.hear()
        if event["type"] in ("acknowledged", "rejected"):
            assert event["command_id"] not in told
            told[event["command_id"]] = event.get("code", "")
    return told


async def test_every_command_is_answered_and_none_overtakes_another(stack: Stack) -> None:
    desk = await stack.deciding()
    offered = desk.heard[-1]["proposals"][0]["id"]

    async def give(names: list[str]) -> tuple[list[str], set[str]]:
        for name in names:
            await desk.send(type="mark", command_id=name, proposal_id=offered, mark="acceptable")
        told = await answers(desk, names)
        return [name for name, code in told.items() if not code], set(told.values()) - {""}

    names = [f"command-{number:04}" for number in range(COMMAND_BURST + MORE)]
    taken, codes = await give(names)
    assert taken == names[: len(taken)]
    assert codes
    assert codes <= RETRYABLE_CODES
    assert await give([names[len(taken) + 1]]) == ([], {"queue_full"})
    again = names[len(taken) : len(taken) + 2]
    assert await give(again) == (again, set())
