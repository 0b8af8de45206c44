"""How an OSWorld task file judges a guest's present state: values are got from it, metrics compare them."""

from secrets import token_hex
from typing import Any

from vm_bridge.drivers.failures import ActFailed, WireRefused
from vm_bridge.drivers.osworld_metrics import METRICS
from vm_bridge.drivers.osworld_setup import guest_set_up
from vm_bridge.drivers.osworld_task import INFEASIBLE, Check, Evaluator, Getter
from vm_bridge.drivers.osworld_wire import Guest
from vm_bridge.errors import VerifierFailed
from vocabulary.actions import MAX_FILE
from vocabulary.observations import Verdict

GAVE_UP = "FAIL"
"""The answer of who says that a task cannot be done, as OSWorld's agents say it."""


async def guest_judge(guest: Guest, evaluator: Evaluator, answer: str) -> Verdict:
    """The verdict. Raises VerifierFailed where the guest or the file lets nobody know."""
    await guest_set_up(guest, evaluator.before)
    gave_up = answer.strip() == GAVE_UP
    if [check.func for check in evaluator.checks] == [INFEASIBLE]:
        return _verdict(float(gave_up), INFEASIBLE)
    if gave_up:
        return _verdict(0.0, "the answer says that it cannot be done")
    scores: list[float] = []
    for check in evaluator.checks:
        score = await _score(guest, check)
        if evaluator.conjunction == "and" and score == 0.0:
            return _verdict(0.0, f"{check.func} does not hold")
        if evaluator.conjunction == "or" and score == 1.0:
            return _verdict(1.0, check.func)
        scores.append(score)
    total = sum(scores) / len(scores) if evaluator.conjunction == "and" else max(scores)
    return _verdict(total, ", ".join(check.func for check in evaluator.checks))


async def _score(guest: Guest, check: Check) -> float:
    try:
        assert check.result is not None
        found = await value_of(guest, check.result)
        expected = None if check.expected is None else await value_of(guest, check.expected)
        return min(1.0, max(0.0, float(METRICS[check.func].score(found, expected, check.options))))
    except (WireRefused, ActFailed) as refused:
        raise VerifierFailed(f"{check.func}: {refused}") from refused
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerifierFailed(f"{check.func}: {type(error).__name__} {error}") from error


async def value_of(guest: Guest, getter: Getter) -> Any:
    """What a getter gets: a text, the bytes of a file, None where there is none. Raises WireRefused, ActFailed."""
    given = getter.given
    match getter.type:
        case "rule":
            return given["rules"]
        case "vm_command_line" | "vm_command_error":
            ran = await guest.execute(given["command"], shell=bool(given.get("shell", False)))
            return ran.output if getter.type == "vm_command_line" else ran.errors
        case "vm_terminal_output":
            return await guest.terminal()
        case "vm_screen_size":
            width, height = await guest.screen_size()
            return {"width": width, "height": height}
        case "list_directory":
            return await guest.folder(given["path"])
        case "vm_file":
            return await _file(guest, given["path"])
        case "cloud_file":
            return await _fetched(guest, given["path"])
    raise WireRefused(f"there is no getter {getter.type}")


async def _file(guest: Guest, path: str) -> bytes | None:
    try:
        return await guest.read(path, MAX_FILE)
    except ActFailed as failure:
        if failure.code == "no_such_file":
            return None
        raise


async def _fetched(guest: Guest, url: str) -> bytes:
    """A file of the web, fetched by the guest: the bridge asks no address that a task file names."""
    path = f"/tmp/pilothouse-{token_hex(8)}"
    await guest.download(url, path)
    try:
        return await guest.read(path, MAX_FILE)
    finally:
        await guest.inside({"do": "remove", "path": path})


def _verdict(score: float, reason: str) -> Verdict:
    return Verdict(success=score == 1.0, score=score, reason=reason)
