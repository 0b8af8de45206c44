"""UI-TARS 1.0 (Qwen2-VL): points as `<|box_start|>(x,y)<|box_end|>`, in thousandths of the screen.

Signatures and reply frame are those of the model's published prompts, the sentences around them our own. On a phone
`scroll` goes between two points: a swipe. A browser is worked like any other window.
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
- Use {language} in the `Thought` part: plan in a few words, then say in one sentence what you do next and to what.
- Give exactly one `Action`.

## User Instruction
{instruction}"""

POINT = "<|box_start|>(x1,y1)<|box_end|>"
OTHER_POINT = "<|box_start|>(x3,y3)<|box_end|>"

DESKTOP = {
    "click": f"click(start_box='{POINT}')",
    "double_click": f"left_double(start_box='{POINT}')",
    "right_click": f"right_single(start_box='{POINT}')",
    "drag": f"drag(start_box='{POINT}', end_box='{OTHER_POINT}')",
    "press_keys": "hotkey(key='')",
    "type_text": r"type(content='') # End the text with \n to submit it.",
    "scroll": f"scroll(start_box='{POINT}', direction='down or up or right or left')",
    "wait": "wait() # Let 5 seconds pass, then look again.",
    "finish": "finished()",
    "call_user": "call_user() # Hand over to the user, when you cannot solve the task or need their help.",
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": f"long_press(start_box='{POINT}', time='')",
    "type_text": "type(content='')",
    "swipe": f"scroll(start_box='{POINT}', end_box='{OTHER_POINT}')",
    "press_home": "press_home()",
    "press_back": "press_back()",
    "finish": "finished(content='') # The task is done; content is the answer, if one was asked for.",
}

_INTRODUCTION = "You see the task, the actions taken so far and screenshots. Choose the action that comes next."
_DESKTOP = Grammar(f"You are an agent that operates a computer. {_INTRODUCTION}", DESKTOP)

DIALECT = FamilyDialect(
    name="ui_tars_1_0",
    codec=ThoughtActionCodec(
        PointSyntax(
            grid=thousandths_grid,
            point="start_box",
            start="start_box",
            end="end_box",
            text=lambda x, y: f"<|box_start|>({x},{y})<|box_end|>",
        )
    ),
    grammars={
        "desktop": _DESKTOP,
        "terminal": _DESKTOP,
        "browser": _DESKTOP,
        "phone": Grammar(f"You are an agent that operates a phone. {_INTRODUCTION}", PHONE),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=MIN_PIXELS, max_pixels=2_700 * RESIZE_FACTOR**2),
)
