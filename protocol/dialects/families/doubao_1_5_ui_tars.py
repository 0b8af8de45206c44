"""Doubao-1.5-UI-TARS (20B): points as `<point>x y</point>`, in thousandths of the screen.

Signatures and reply frame are those of the model's published prompts, the sentences around them our own; the lines
for commands, files and tools are ours. The model may write several actions in one step: the prompt asks for one, and
a reply with more is refused whole, so that nothing is recorded that it did not propose.
"""

from protocol.dialects.action_lines import POINTER_LINES, TOOL_LINES
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
- Write the `Thought` in {language}: what you see, what you plan, and what you do next to which element.
- Give exactly one `Action`. Points are whole numbers from 0 to 1000, counted from the upper left corner.
- Release every key that you press and hold before you finish.

## User Instruction
{instruction}"""

TYPE = r"type(content='xxx') # Escape \', \" and \n; a final \n submits."
WAIT = "wait() # Let 5 seconds pass, then look again."
FINISHED = r"finished(content='xxx') # Report to the user that the task is done; escape as in type."
CALL_USER = "call_user(content='xxx') # Ask the user for what only they can know or do."

DESKTOP = {
    **POINTER_LINES,
    "scroll": "scroll(point='<point>x1 y1</point>', direction='down or up or right or left')",
    "press_keys": "hotkey(key='ctrl c') # Lower case, with a space between keys, three at most.",
    "press": "press(key='ctrl') # Press one key and hold it.",
    "release": "release(key='ctrl') # Let a held key go.",
    "type_text": TYPE,
    "wait": WAIT,
    **TOOL_LINES,
    "call_user": CALL_USER,
    "finish": FINISHED,
}

BROWSER = {
    **DESKTOP,
    "navigate": "navigate(content='xxx') # Open an address.",
    "navigate_back": "navigate_back() # Go back one page.",
    "switch_page": "switch_page(page='xxx') # Bring another open page to the front, by its id.",
    "close_page": "close_page() # Close the page in front; page='xxx' closes another.",
    "choose_files": "choose_files(files='xxx') # Give the page files it asks for; | between several.",
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": "long_press(point='<point>x1 y1</point>')",
    "type_text": TYPE,
    "scroll": DESKTOP["scroll"],
    "drag": DESKTOP["drag"],
    "open_app": "open_app(app_name='')",
    "press_home": "press_home()",
    "press_back": "press_back()",
    "wait": WAIT,
    "call_user": CALL_USER,
    "finish": FINISHED,
}

TERMINAL = {**TOOL_LINES, "wait": WAIT, "call_user": CALL_USER, "finish": FINISHED}

_INTRODUCTION = "You are given a task, your past actions and screenshots, and choose the next action."

DIALECT = FamilyDialect(
    name="doubao_1_5_ui_tars",
    codec=ThoughtActionCodec(
        PointSyntax(
            grid=thousandths_grid,
            point="point",
            start="start_point",
            end="end_point",
            text=lambda x, y: f"<point>{x} {y}</point>",
        )
    ),
    grammars={
        "desktop": Grammar(f"You operate a computer. {_INTRODUCTION}", DESKTOP),
        "browser": Grammar(f"You operate a web browser. {_INTRODUCTION}", BROWSER),
        "phone": Grammar(f"You operate a phone. {_INTRODUCTION}", PHONE),
        "terminal": Grammar(
            "You operate a computer without a screen. You are given a task and what came of your past actions, and"
            " choose the next action.",
            TERMINAL,
        ),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=MIN_PIXELS, max_pixels=5_120 * RESIZE_FACTOR**2),
)
