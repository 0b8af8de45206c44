"""UI-TARS 1.5 (Qwen2.5-VL): points as `<point>x y</point>`, in pixels of the smart-resized picture.

Signatures and reply frame are those of the model's published prompts, the sentences around them our own. The browser
lines are those its successor of the same grammar adds; those for commands, files and tools are ours. A phone's swipe
is said as a drag.
"""

from protocol.actions.types import Drag
from protocol.dialects.action_lines import POINTER_LINES, TOOL_LINES
from protocol.dialects.action_writers import PointSyntax
from protocol.dialects.coordinates import resized_grid
from protocol.dialects.family_dialect import FamilyDialect, Grammar
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.thought_action import ThoughtActionCodec

PROMPT_TEMPLATE = """{opening}

## Output Format
```
Thought: ...
Action: ...
```

## Action Space
{actions}

## Note
- Write the `Thought` in {language}: a short plan, ending in one sentence that names the next action and its target.
- Give exactly one `Action`, written as in the action space.

## User Instruction
{instruction}"""

TYPE = r"type(content='xxx') # Write \', \" and \n for quotes and line breaks in the text; end it with \n to submit."
FINISHED = r"finished(content='xxx') # The task is done; content is the answer, with \', \" and \n as in type."
CALL_USER = "call_user() # Ask the user, when the task is unsolvable or needs something only the user knows."

DESKTOP = {
    **POINTER_LINES,
    "press_keys": "hotkey(key='ctrl c') # Key names in lower case with a space between them, three at most.",
    "type_text": TYPE,
    "scroll": "scroll(point='<point>x1 y1</point>', direction='down or up or right or left')",
    "wait": "wait() # Let 5 seconds pass, then look again.",
    **TOOL_LINES,
    "finish": FINISHED,
    "call_user": CALL_USER,
}

TERMINAL = {**TOOL_LINES, "wait": DESKTOP["wait"], "finish": FINISHED, "call_user": CALL_USER}

BROWSER = {
    **DESKTOP,
    "navigate": "navigate(content='https://…') # Open an address.",
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
    "open_app": "open_app(app_name='')",
    "drag": DESKTOP["drag"],
    "press_home": "press_home()",
    "press_back": "press_back()",
    "finish": FINISHED,
}

_INTRODUCTION = "You get a task, what you did so far and the latest screenshots, and decide on the next action."
_TERMINAL_INTRODUCTION = "You get a task, what you did so far and what came of it, and decide on the next action."
_DESKTOP = Grammar(f"You work on a computer through its screen, mouse and keyboard. {_INTRODUCTION}", DESKTOP)
_TERMINAL = Grammar(
    f"You work on a computer without a screen, through commands, files and tools. {_TERMINAL_INTRODUCTION}", TERMINAL
)

DIALECT = FamilyDialect(
    name="ui_tars_1_5",
    codec=ThoughtActionCodec(
        PointSyntax(
            grid=resized_grid,
            point="point",
            start="start_point",
            end="end_point",
            text=lambda x, y: f"<point>{x} {y}</point>",
        )
    ),
    grammars={
        "desktop": _DESKTOP,
        "terminal": _TERMINAL,
        "browser": Grammar(
            f"You work in a web browser through its screen, mouse and keyboard. {_INTRODUCTION}", BROWSER
        ),
        "phone": Grammar(f"You work on a phone through its touch screen. {_INTRODUCTION}", PHONE),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    substitutes={"swipe": lambda swipe: Drag(start=swipe.start, end=swipe.end)},
)
