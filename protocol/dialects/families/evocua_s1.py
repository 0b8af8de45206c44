"""EvoCUA in its first prompt style (S1): OpenCUA's sections under a step header, with points in thousandths.

`computer.wait()` is 20 seconds there, and `computer.terminate` holds the answer. The second style (S2) is
`qwen_computer`.
"""

from dataclasses import dataclass, replace

from protocol.actions.types import Action, Wait
from protocol.dialects.action_writers import PointSyntax
from protocol.dialects.code_sections import OPENCUA, CodeSectionCodec
from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import ParsedTurn
from protocol.dialects.function_calls import several_actions_error
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.proposals import ImageLimits

WAIT_SECONDS = 20.0
_BARE_WAIT = "computer.wait()"


@dataclass(frozen=True)
class EvocuaCodec(CodeSectionCodec):
    """OpenCUA's writing with another wait."""

    def write_code(self, action: Action, screen: ScreenSize) -> str:
        if isinstance(action, Wait):
            return f"computer.wait(seconds={action.seconds})"
        return super().write_code(action, screen)

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        turn = super().read(text, screen)
        if isinstance(turn.action, Wait) and _BARE_WAIT in turn.text:
            return replace(turn, action=Wait(seconds=WAIT_SECONDS))
        return turn

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        turn = super().read_batch(text, screen)
        if turn.further_actions and _BARE_WAIT in turn.text:
            return replace(turn, action=several_actions_error("computer.wait() stands beside it"), further_actions=())
        if isinstance(turn.action, Wait) and _BARE_WAIT in turn.text:
            return replace(turn, action=Wait(seconds=WAIT_SECONDS))
        return turn


DIALECT = replace(
    OPENCUA,
    name="evocua_s1",
    codec=EvocuaCodec(PointSyntax(thousandths_grid, "point", "start_point", "end_point", lambda x, y: f"{x} {y}")),
    grammars={
        platform: replace(
            grammar,
            lines={
                **grammar.lines,
                "wait": "computer.wait() # Let 20 seconds pass; or as many as seconds= says.",
            },
        )
        for platform, grammar in OPENCUA.grammars.items()
    },
    template=PromptTemplate(
        prompt=OPENCUA.template.prompt.replace(
            "pixels of the screenshot", "whole numbers from 0 to 1000 over the screen"
        ),
        task=OPENCUA.template.task,
    ),
    limits=ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
)
