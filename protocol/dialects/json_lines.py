"""What prompts say of each action where a call is a JSON object: its line, by kind and platform."""


def _line(name: str, arguments: str = "", note: str = "") -> str:
    return f'{{"action": "{name}", "arguments": {{{arguments}}}}}{f" # {note}" if note else ""}'


AT = '"point": [x1, y1]'
PATH = '"start_point": [x1, y1], "end_point": [x2, y2]'
CONTENT, FILE = '"content": "xxx"', '"path": "xxx"'

TOOLS = {
    "run_command": _line("run_command", CONTENT, 'Run a command line; "timeout" in seconds may be given.'),
    "type_terminal": _line("type_terminal", CONTENT, "Type in an interactive terminal; a line break submits."),
    "list_files": _line("list_files", FILE, "What is in a folder; paths begin at the home folder."),
    "read_file": _line("read_file", FILE),
    "write_file": _line("write_file", f"{FILE}, {CONTENT}"),
    "edit_file": _line("edit_file", f'{FILE}, "old": "xxx", "new": "xxx"', "Replace the one occurrence of a text."),
    "download_file": _line("download_file", FILE, "Hand a file to the user."),
    "run_code": _line("run_code", CONTENT, "Run Python; variables are kept."),
    "call_tool": _line("call_tool", '"name": "xxx", "arguments": {}', "Call one of the tools below."),
}

END = {
    "wait": _line("wait", "", 'Let 5 seconds pass, or as many as "time" says.'),
    "call_user": _line("call_user", CONTENT, "Ask the user."),
    "infeasible": _line("infeasible", CONTENT, "The task cannot be done; content says why."),
    "finish": _line("finished", CONTENT, "The task is done; content is the answer, if one was asked for."),
}

OBSERVATIONS = {
    "screenshot": _line("screenshot", "", "See the screen again."),
    "zoom": _line("zoom", PATH, "See the part between two corners enlarged."),
}

DESKTOP = {
    "click": _line("click", AT),
    "double_click": _line("double_click", AT),
    "triple_click": _line("triple_click", AT),
    "right_click": _line("right_click", AT),
    "middle_click": _line("middle_click", AT),
    "move_to": _line("move_to", AT),
    "mouse_down": _line("mouse_down", AT),
    "mouse_up": _line("mouse_up", AT),
    "drag": _line("drag", PATH),
    "mouse_click": _line(
        "mouse_click",
        f'{AT}, "button": "back", "clicks": 1, "keys": "ctrl"',
        "Any click: left, middle, right, back or forward, with keys held; at the pointer without a point.",
    ),
    "drag_path": _line("drag_path", '"points": [[x1, y1], [x2, y2], [x3, y3]]', '"keys" may be held.'),
    "scroll_by": _line(
        "scroll_by",
        f'{AT}, "dx": 0, "dy": 300',
        'Pixels to the right and down; "unit": "notches" counts notches; "keys" may be held.',
    ),
    "scroll": _line("scroll", f'{AT}, "direction": "down or up or right or left"'),
    "press_keys": _line("hotkey", '"key": "ctrl c"', "A space between keys."),
    "press": _line("press", '"key": "ctrl"', "Press one key and hold it."),
    "release": _line("release", '"key": "ctrl"'),
    "type_text": _line("type", CONTENT, "A line break at the end submits."),
    **OBSERVATIONS,
    **TOOLS,
    **END,
}

BROWSER = {
    **DESKTOP,
    "navigate": _line("navigate", CONTENT, "Open an address."),
    "navigate_back": _line("navigate_back"),
    "switch_page": _line("switch_page", '"page": "xxx"', "Bring another open page to the front, by its id."),
    "close_page": _line("close_page", "", 'Close the page in front; "page" names another.'),
    "choose_files": _line(
        "choose_files",
        '"files": "xxx"',
        "Give the page files it asks for; | between several.",
    ),
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": _line("long_press", AT),
    "swipe": _line("swipe", PATH),
    "drag": DESKTOP["drag"],
    "scroll": DESKTOP["scroll"],
    "type_text": DESKTOP["type_text"],
    "open_app": _line("open_app", '"app_name": "xxx"'),
    "press_home": _line("press_home"),
    "press_back": _line("press_back"),
    **OBSERVATIONS,
    **END,
}
