"""Small judgements a desktop task's verifier is made of: each says what is wrong, or nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protocol.base import JsonObject
from vm_bridge.suites import SandboxEnvironment


@dataclass(frozen=True, slots=True)
class Check:
    """Looks at the machine and the given answer; gives the reason why not, or an empty string."""

    fault: Callable[[SandboxEnvironment, str], Awaitable[str]]
    data: JsonObject
    """The same judgement as data, for verifiers outside this program: `kind`, and what that needs."""

    async def __call__(self, environment: SandboxEnvironment, answer: str) -> str:
        """The reason why not, or an empty string."""
        return await self.fault(environment, answer)


def file_holds(path: str, text: str) -> Check:
    """The file exists and holds exactly this text, trailing white space aside."""

    async def fault(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.read(path)
        if found is None:
            return f"{path} does not exist"
        return "" if found.rstrip() == text.rstrip() else f"{path} does not hold the expected text"

    return Check(fault, {"kind": "file_holds", "path": path, "text": text})


def file_absent(path: str) -> Check:
    """Nothing is found at this path."""

    async def fault(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.run(("test", "-e", path))
        return f"{path} still exists" if found.code == 0 else ""

    return Check(fault, {"kind": "file_absent", "path": path})


def is_executable(path: str) -> Check:
    """The file may be executed."""

    async def fault(environment: SandboxEnvironment, answer: str) -> str:
        found = await environment.run(("test", "-x", path))
        return "" if found.code == 0 else f"{path} is not executable"

    return Check(fault, {"kind": "is_executable", "path": path})


def answer_is(*wanted: str) -> Check:
    """The answer contains one of these as a separate word, in any case and with any surroundings."""
    accepted = {one.casefold() for one in wanted}

    async def fault(environment: SandboxEnvironment, answer: str) -> str:
        words = {word.strip(".,;:!?\"'()") for word in answer.casefold().split()}
        return "" if accepted & words else f"the answer should be {wanted[0]}"

    return Check(fault, {"kind": "answer_is", "words": list(wanted)})
