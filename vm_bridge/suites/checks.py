"""Small judgements a desktop task's verifier is made of: each says what is wrong, or nothing."""

from collections.abc import Awaitable, Callable

from vm_bridge.suites import SandboxEnvironment

Check = Callable[[SandboxEnvironment, str], Awaitable[str]]
"""Looks at the desk and the given answer; gives the reason why not, or an empty string."""


def file_holds(path: str, text: str) -> Check:
    """The file exists and holds exactly this text, trailing white space aside."""

    async def check(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.read(path)
        if found is None:
            return f"{path} does not exist"
        return "" if found.rstrip() == text.rstrip() else f"{path} does not hold the expected text"

    return check


def file_absent(path: str) -> Check:
    """Nothing is found at this path."""

    async def check(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.run(("test", "-e", path))
        return f"{path} still exists" if found.code == 0 else ""

    return check


def is_executable(path: str) -> Check:
    """The file may be executed."""

    async def check(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.run(("test", "-x", path))
        return "" if found.code == 0 else f"{path} is not executable"

    return check


def answer_is(*wanted: str) -> Check:
    """The answer holds one of these as a word of its own, whatever its case and what stands around it."""
    accepted = {one.casefold() for one in wanted}

    async def check(environment: SandboxEnvironment, answer: str) -> str:
        words = {word.strip(".,;:!?\"'()") for word in answer.casefold().split()}
        return "" if accepted & words else f"the answer should be {wanted[0]}"

    return check
