"""Questions to a running program, against a stand-in for it that needs no walls."""

import asyncio
import sys
from pathlib import Path

import pytest

from vm_bridge.hosts.phone.android_world import AndroidWorldProgram, ProgramFailed

SCRIPT = """
import json, sys
held = []
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "end":
        sys.exit("the last words")
    held.append(json.dumps({"said": asked["do"], "number": asked["number"]}))
    if asked["do"] != "hold":
        print("\\n".join(held), flush=True)
        held = []
"""


class PlainProgram(AndroidWorldProgram):
    def _command(self, seccomp: int) -> list[str]:
        return [sys.executable, "-c", SCRIPT]


async def started() -> PlainProgram:
    program = PlainProgram(Path(sys.executable), None, "")
    await program.start()
    return program


async def test_an_answer_to_a_question_that_was_given_up_is_passed_over() -> None:
    program = await started()
    given_up = asyncio.create_task(program.ask({"do": "hold"}))
    for _ in range(5):
        await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    assert await program.ask({"do": "second"}) == {"said": "second"}
    await program.end()


async def test_a_program_that_ends_or_stays_silent_is_told_with_its_last_words() -> None:
    program = await started()
    with pytest.raises(ProgramFailed, match="the last words"):
        await program.ask({"do": "end"})
    with pytest.raises(ProgramFailed, match="ended"):
        await program.ask({"do": "again"})
    silent = await started()
    with pytest.raises(ProgramFailed, match="did not answer"):
        await silent.ask({"do": "hold"}, timeout=0.01)
    await silent.end()
