"""Doubao-1.5-UI-TARS (15B): boxes as `[x1, y1, x2, y2]` whose centre is meant, in thousandths of the screen.

Signatures and reply frame are those of the model's published prompts, the sentences around them our own. A point is
written as a box without extent, which has it for its centre exactly. The published grammar is that of a computer; on
a phone it has the lines of its relatives, and it has none for commands and tools.
"""

from protocol.dialects.action_writers import PointSyntax
from protocol.dialects.coordinates import MIN_PIXELS, RESIZE_FACTOR, thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect, Grammar
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.thought_action import ThoughtActionCodec
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}

## Output Format
```
Thought: ...
Action: ...
```

## Action Space
{actions}

## Note
- Write the `Thought` in {language}: a short plan, then the next action and its target in one sentence.
- Give exactly one `Action`. A box is [left, top, right, bottom] in thousandths of the screen.

## User Instruction
{instruction}"""

BOX = "[x1, y1, x2, y2]"
TYPE = r"type(content='xxx') # Escape \', \" and \n; a final \n submits."
WAIT = "wait() # Let 5 seconds pass, then look again."
FINISHED = "finished(content='xxx') # The task is done; content is the answer, if one was asked for."

DESKTOP = {
    "click": f"click(start_box='{BOX}')",
    "double_click": f"left_double(start_box='{BOX}')",
    "right_click": f"right_single(start_box='{BOX}')",
    "drag": f"drag(start_box='{BOX}', end_box='[x3, y3, x4, y4]')",
    "press_keys": "hotkey(key='')",
    "type_text": TYPE,
    "scroll": f"scroll(start_box='{BOX}', direction='down or up or right or left')",
    "wait": WAIT,
    "finish": FINISHED,
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": f"long_press(start_box='{BOX}')",
    "type_text": TYPE,
    "drag": DESKTOP["drag"],
    "scroll": DESKTOP["scroll"],
    "press_home": "press_home()",
    "press_back": "press_back()",
    "wait": WAIT,
    "finish": FINISHED,
}

_INTRODUCTION = "You are given a task, your past actions and screenshots, and choose the next action."
_DESKTOP = Grammar(f"You operate a computer. {_INTRODUCTION}", DESKTOP)

DIALECT = FamilyDialect(
    name="doubao_1_5_ui_tars_15b",
    codec=ThoughtActionCodec(
        PointSyntax(
            grid=thousandths_grid,
            point="start_box",
            start="start_box",
            end="end_box",
            text=lambda x, y: f"[{x}, {y}, {x}, {y}]",
        )
    ),
    grammars={
        "desktop": _DESKTOP,
        "browser": _DESKTOP,
        "terminal": _DESKTOP,
        "phone": Grammar(f"You operate a phone. {_INTRODUCTION}", PHONE),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=MIN_PIXELS, max_pixels=5_120 * RESIZE_FACTOR**2),
)
